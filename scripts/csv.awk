# Reads CSV for the other scripts in awk.

# Splits a line of CSV, in which fields may be quoted, into `fields`.
function split_csv(line,    count, field) {
    count = 0
    while (length(line) > 0) {
        if (match(line, /^"([^"]|"")*"/)) {
            field = substr(line, 2, RLENGTH - 2)
            gsub(/""/, "\"", field)
        } else {
            match(line, /^[^,]*/)
            field = substr(line, 1, RLENGTH)
        }
        fields[++count] = field
        line = substr(line, RSTART + RLENGTH + 1)
    }
    return count
}
