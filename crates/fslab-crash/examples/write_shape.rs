//! Writes a log at which costs become products: `write_shape SHAPE REQUESTS FILE`.

#[path = "../tests/shapes/log_shapes.rs"]
mod shapes;

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use fslab_crash::write_log;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, count, file] = &words[..] else {
        let names: Vec<&str> = shapes::SHAPES.iter().map(|it| it.0).collect();
        return Err(format!(
            "SHAPE REQUESTS FILE; a shape is one of {}",
            names.join(", ")
        )
        .into());
    };
    let shape = shapes::SHAPES.iter().find(|it| it.0 == name);
    let (_, make) = shape.ok_or("there is no such shape")?;
    let log = make(count.parse()?);
    write_log(&log, BufWriter::new(File::create(file)?))?;
    Ok(())
}
