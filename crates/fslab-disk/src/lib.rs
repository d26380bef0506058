//! Simulated disks: their profiles, what the model says of them, and the traces that they leave.
