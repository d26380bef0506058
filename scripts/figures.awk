# Compares the figures of a run with committed ones, phase by phase:
#
#     awk -f scripts/csv.awk -f scripts/figures.awk sensitivity.csv COMMITTED.csv.. -- NEW.csv..
#
# A figure agrees if it is within 1 % of the committed one, or within the sensitivity that is
# committed of its phase and subject. Prints the count, and each phase of a subject that differs,
# with its largest difference. The status is 1 if one differs.

BEGIN {
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] == "--") {
            is_new = 1
            continue
        }
        is_sensitivity = i == 1
        line_number = 0
        while ((getline line < ARGV[i]) > 0) {
            if (line_number++ == 0) continue
            split_csv(line)
            if (is_sensitivity) {
                sensitivity[fields[1] SUBSEP fields[2]] = fields[3] + 0
                continue
            }
            # Deviations of starts and the original's figures are none of this run.
            if (fields[5] ~ /(^|_)sd|_then$|cpu_share/ || fields[6] == "") continue
            key = fields[1] SUBSEP fields[2] SUBSEP fields[3] SUBSEP fields[4] SUBSEP fields[5]
            if (is_new) {
                new[key] = fields[6] + 0
            } else {
                committed[key] = fields[6] + 0
                phase[key] = fields[2] SUBSEP fields[3]
            }
        }
        close(ARGV[i])
    }
    for (key in committed) {
        all++
        place = phase[key]
        limit = sensitivity[place] > 0.01 ? sensitivity[place] : 0.01
        if (!(key in new)) {
            missing++
            continue
        }
        was = committed[key]
        difference = was == new[key] ? 0 : was == 0 ? 1 : new[key] / was - 1
        size = difference < 0 ? -difference : difference
        if (size <= limit) {
            same++
        } else if (size > worst[place]) {
            worst[place] = size
            signed[place] = difference
        }
    }
    printf "%d of %d figures within 1 %% or their sensitivity", same, all
    if (missing > 0) printf ", %d not measured here", missing
    print ""
    for (place in worst) {
        split(place, names, SUBSEP)
        printf "    %s, %s: %+.1f %%\n", names[1], names[2], 100 * signed[place]
    }
    exit same == all ? 0 : 1
}
