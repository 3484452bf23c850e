import Core
import Media
import SystemPackage

/// Reads the tables and lists of files that a `capture.yaml` names, and tells of those that are not there.
extension OpenFolderCapture {
  func lacks(_ name: String, _ subject: String, _ what: String) -> String {
    warnings.add(.missingFile, subject, "\(name): \(what)")
    if told.insert("-" + name).inserted {
      completeness.missing.append("\(name): \(what).")
      completeness.absentFiles.append(name)
    }
    return "\(name): \(what)"
  }

  /// Why a file that `capture.yaml` names must not be read; `nil` if it is there.
  func absence(of name: String, _ subject: String) -> String? {
    switch content.look(at: name) {
    case .file: return nil
    case .absent: return lacks(name, subject, "named by capture.yaml, and not there")
    case .outside:
      warnings.add(
        .pathOutsideCapture, name, "a link out of the capture's folder; not followed")
      return "\(name) leads out of the folder"
    }
  }

  /// Gives `take` the rows of a stream's table with their times. The number of rows; `nil` without a table, or if it is
  /// not there or empty, which is told. Throws if no row is usable, or there are more than `most`.
  func read(
    _ stream: OpenFolderStream, _ part: CapturePart, most: InputLimit, columns: [String],
    _ take: (_ row: OpenFolderTable, _ isUsable: Bool, _ time: Timestamp?) -> Void
  ) throws(CaptureError) -> Int? {
    guard let table = stream.table, absence(of: table.file, stream.subject) == nil else {
      return nil
    }
    let path = content.full(table.file)
    if files[part]?.contains(path) != true { files[part, default: []].append(path) }
    var reader = try OpenFolderTable(path, table)
    var timeColumn: String?
    if case .column(let name)? = stream.time?.source { timeColumn = name }
    try reader.check(columns + [timeColumn].compactMap(\.self), of: stream.subject)
    var usable = 0
    var timed = 0
    var untimed: (count: Int, first: String) = (0, "")
    while let isUsable = try reader.nextRow() {
      if let problem = most.problem(reader.count) {
        throw CaptureError(file: path, problem: problem)
      }
      if isUsable { usable += 1 }
      let text = isUsable ? timeColumn.flatMap(reader.text) : nil
      let time = text.flatMap { stream.time?.timestamp($0) }
      if time != nil {
        timed += 1
      } else if let text, let timeColumn {
        if untimed.count == 0 {
          untimed.first =
            "`\(String(text.prefix(40)).onOneLine)` in column `\(timeColumn)` of \(reader.line) is no time in "
            + (stream.time?.unit ?? "s")
        }
        untimed.count += 1
      }
      take(reader, isUsable, time)
    }
    guard reader.count > 0 else {
      _ = lacks(table.file, stream.subject, "it has no rows" + table.filterWords)
      return nil
    }
    if told.insert(table.file).inserted {
      warnings.add(
        .corruptRecord, table.file, count: reader.damaged,
        "rows that cannot be read: \(reader.firstDamage ?? "")")
      if reader.isCut {
        warnings.add(
          .truncatedStream, table.file, "it ends inside a row; whole values of it are used")
        completeness.missing.append("\(table.file) ends inside a row.")
      }
    }
    if let timeColumn, usable > 0, timed == 0, untimed.count == 0, let time = stream.map.map("time")
    {
      throw time.fault("column", "no row of \(table.file) has a value at `\(timeColumn)`")
    }
    guard usable > 0 else {
      throw CaptureError(
        file: path,
        problem: "none of its \(reader.count) rows can be read: \(reader.firstDamage ?? "")",
        correction: "check the table and `columns` under \(stream.subject) in "
          + OpenFolderReader.fileName)
    }
    // Motion and positions count their rows without a time themselves.
    if untimed.count > 0, part != .imu, part != .geo {
      guard timed > 0, let time = stream.map.map("time") else {
        throw CaptureError(
          file: path, problem: "none of its rows has a time: \(untimed.first)",
          correction: "check `column` and `unit` under \(stream.subject) in "
            + OpenFolderReader.fileName)
      }
      if told.insert("\(table.file) \(time.text("column") ?? "")").inserted {
        warnings.add(.timestampsMissing, table.file, count: untimed.count, untimed.first)
      }
    }
    return reader.count
  }

  /// The rows of a stream's table: what they carry, and the value of each usable one. `nil` as of `read`.
  func rows<Value>(
    _ stream: OpenFolderStream, _ part: CapturePart, columns: [String] = [],
    _ value: (OpenFolderTable) -> Value
  ) throws(CaptureError) -> (items: OpenFolderItems, values: [Value?])? {
    var items = OpenFolderItems(
      table: stream.table, clock: stream.time?.clock, pair: stream.pair)
    var values: [Value?] = []
    let count = try read(
      stream, part, most: InputLimits.framesOfCapture,
      columns: columns + [stream.file, stream.number].compactMap(\.self)
    ) { row, isUsable, time in
      var item = OpenFolderItem(row: values.count, time: time)
      if isUsable {
        item.name = stream.file.flatMap(row.text)
        item.number =
          stream.number.map { row.text($0).flatMap(Double.init).flatMap { Int(exactly: $0) } }
          ?? item.name.flatMap { OpenFolderContent.number(in: OpenFolderContent.stem($0)) }
      }
      items.items.append(item)
      values.append(isUsable ? value(row) : nil)
    }
    guard count != nil else { return nil }
    clean(&items, stream)
    return (items, values)
  }

  /// Drops times that cannot be, and makes those of a rate.
  func clean(_ items: inout OpenFolderItems, _ stream: OpenFolderStream) {
    if case .rate(let rate)? = stream.time?.source {
      items.hasMadeUpTimes = true
      let numbers = items.items.compactMap(\.number)
      let areNumbered = numbers.count == items.items.count
      for index in items.items.indices {
        let place = areNumbered ? Double(numbers[index]) - Double(numbers[0]) : Double(index)
        items.items[index].time = Timestamp(exactSeconds: place / rate)?
          .advanced(byNanoseconds: stream.time?.offsetNanoseconds ?? 0)
      }
      return
    }
    let bounds = TimeBounds(items.times)
    let stale = TimeMajority.stale(items.times)
    warnings.add(
      .corruptRecord, stream.subject, count: items.times.count { !bounds.contains($0) },
      "times far away from all others; not used")
    warnings.add(
      .timestampsStale, stream.subject, count: stale?.count ?? 0,
      "items that share one time: the clock did not advance; not used")
    for index in items.items.indices {
      items.items[index].time = items.items[index].time.flatMap {
        stale == nil && bounds.contains($0) ? $0 : nil
      }
    }
  }
}
