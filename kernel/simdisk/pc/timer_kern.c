// SPDX-License-Identifier: GPL-2.0
/*
 * The local APIC's timer, without its calibration.
 *
 * A kernel measures the rate of that timer for 100 ms at boot with the instruction PAUSE, at each
 * of which QEMU leaves its execution loop: 3 s of real time. QEMU's has the constant rate of its
 * virtual clock. So the kernel is started with nolapic_timer, waits with the PIT until this module
 * is loaded, and with this device from then on, whose steps are 1 ns instead of 10.
 *
 * Modules cannot have a vector of their own for it. That of KVM's posted interrupts takes a
 * handler, and nothing else uses it here. Newer kernels, such as Linux 7.2, export the function
 * that sets the handler to the modules of KVM only; there a probe that is never armed finds it by
 * its name. A kernel without KVM is started without nolapic_timer, and uses its own driver.
 */
#include <linux/clockchips.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/version.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/irq.h>
#include <asm/irq_regs.h>
#include <asm/irq_vectors.h>
#include <asm/ptrace.h>

#define IS_EXPORTED (LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0))

#if IS_ENABLED(CONFIG_KVM) && (IS_EXPORTED || IS_ENABLED(CONFIG_KPROBES))

/* QEMU, hw/intc/apic.c: a count is a nanosecond of the virtual clock where the divisor is 1. */
#define COUNTS_PER_S 1000000000u
#define COUNTS_MIN 15
#define COUNTS_MAX 0x7fffffff

static int set_oneshot(struct clock_event_device *device)
{
	native_apic_mem_write(APIC_TDCR, APIC_TDR_DIV_1);
	native_apic_mem_write(APIC_LVTT, POSTED_INTR_WAKEUP_VECTOR);
	return 0;
}

static int shut_down(struct clock_event_device *device)
{
	native_apic_mem_write(APIC_LVTT, POSTED_INTR_WAKEUP_VECTOR | APIC_LVT_MASKED);
	native_apic_mem_write(APIC_TMICT, 0);
	return 0;
}

static int set_next(unsigned long counts, struct clock_event_device *device)
{
	native_apic_mem_write(APIC_TMICT, counts);
	return 0;
}

static struct clock_event_device device = {
	.name = "fslab-lapic",
	.features = CLOCK_EVT_FEAT_ONESHOT,
	/* That of the kernel's own has 100, and the HPET 50. */
	.rating = 400,
	.set_state_oneshot = set_oneshot,
	.set_state_shutdown = shut_down,
	.set_next_event = set_next,
	.owner = THIS_MODULE,
};

/*
 * The handler of this vector is not given the registers of what was interrupted, without which a
 * tick runs no timers, and of which it uses whether that was a program. Only an interrupt of a
 * program is handled on the stack of its task, below its registers.
 */
static struct pt_regs *interrupted(void)
{
	static struct pt_regs of_kernel = { .cs = __KERNEL_CS };
	unsigned long depth = (unsigned long)__builtin_frame_address(0) -
			      (unsigned long)task_stack_page(current);

	return depth < THREAD_SIZE ? task_pt_regs(current) : &of_kernel;
}

static void on_interrupt(void)
{
	struct pt_regs *before = set_irq_regs(interrupted());

	if (device.event_handler)
		device.event_handler(&device);
	set_irq_regs(before);
}

typedef void set_handler_fn(void (*handler)(void));

#if IS_EXPORTED
static set_handler_fn *handler_setter(void)
{
	return kvm_set_posted_intr_wakeup_handler;
}
#else
static set_handler_fn *handler_setter(void)
{
	struct kprobe probe = {
		.symbol_name = "kvm_set_posted_intr_wakeup_handler",
		.flags = KPROBE_FLAG_DISABLED,
	};
	set_handler_fn *found;

	if (register_kprobe(&probe))
		return NULL;
	found = (set_handler_fn *)probe.addr;
	unregister_kprobe(&probe);
	return found;
}
#endif

static int __init fslab_timer_init(void)
{
	set_handler_fn *set_handler = handler_setter();

	if (!set_handler) {
		pr_err("fslab: no kvm_set_posted_intr_wakeup_handler in this kernel\n");
		return -ENOENT;
	}
	if (!boot_cpu_has(X86_FEATURE_APIC)) {
		pr_err("fslab: no local APIC: it needs CONFIG_ACPI or CONFIG_X86_MPPARSE\n");
		return -EINVAL;
	}
	device.cpumask = cpumask_of(0);
	set_handler(on_interrupt);
	clockevents_config_and_register(&device, COUNTS_PER_S, COUNTS_MIN, COUNTS_MAX);
	return 0;
}

#else

static int __init fslab_timer_init(void)
{
	return 0;
}

#endif
device_initcall(fslab_timer_init);
