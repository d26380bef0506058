//! Pure statistics: location, spread, intervals, ratios.
