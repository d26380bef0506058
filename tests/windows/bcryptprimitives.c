/*
 * The one function of bcryptprimitives.dll that Rust's library calls: Windows 10 has it, Wine 8
 * lacks it.
 */
int SystemFunction036(unsigned char *buffer, unsigned long length); /* advapi32: RtlGenRandom */

__declspec(dllexport) int ProcessPrng(unsigned char *buffer, unsigned long long length)
{
	return SystemFunction036(buffer, (unsigned long)length) & 1;
}
