use std::sync::atomic::AtomicBool;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let cache = fslab_lab::Cache::below(std::path::Path::new(&f));
    let r = fslab_lab::BuildRequest {
        name: "default".parse().unwrap(),
        source: fslab_lab::SourceRequest::Debian,
        jobs: 2.try_into().unwrap(),
        force: false,
        new_root: true,
    };
    let t = std::time::Instant::now();
    let b = fslab_lab::build_lab(&cache, &r, &AtomicBool::new(false), &mut |p| {
        println!("{p:?}")
    })
    .unwrap();
    println!(
        "{} {} {:?} {} files {:?}",
        b.lab.digest,
        b.lab.root_image.display(),
        b.lab.root.glibc,
        b.lab.root.files.len(),
        t.elapsed()
    );
    for m in &b.lab.root.missing {
        println!("missing {m:?}");
    }
    for m in &b.lab.root.programs {
        print!("{} {:?}; ", m.name, m.version);
    }
}
