# The sensitivity of each phase and subject, from `fslab export --format csv` on standard input: the
# largest of a sweep.

function quoted(text) {
    gsub(/"/, "\"\"", text)
    return text ~ /[",]/ ? "\"" text "\"" : text
}

NR == 1 {
    count = split_csv($0)
    for (i = 1; i <= count; i++) column[fields[i]] = i
    next
}

{
    split_csv($0)
    phase = fields[column["sweep"]] == "" ? fields[column["phase"]] : fields[column["sweep"]]
    found = fields[column["sensitivity"]]
    if (phase == "" || found == "") next
    key = quoted(phase) "," quoted(fields[column["subject"]])
    if (!(key in largest)) order[++keys] = key
    if (found + 0 > largest[key]) largest[key] = found + 0
}

END {
    print "phase,subject,sensitivity"
    for (i = 1; i <= keys; i++) printf "%s,%.6g\n", order[i], largest[order[i]]
}
