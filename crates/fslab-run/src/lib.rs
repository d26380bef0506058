//! The conductor: study to plan, order, repeats, resume.
