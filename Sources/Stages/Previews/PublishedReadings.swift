import Media
import Core
import Engine
import Processing
import SystemPackage

/// Reads tables of an output for previews; what cannot be read is left out.
enum PublishedReadings {
  /// `timestamp_ns` by frame, from `frames.csv`.
  static func frameTimes(_ tables: InputArtifact?) -> [Int: Int64] {
    var times: [Int: Int64] = [:]
    read("frames.csv", of: tables, columns: ["frame", "timestamp_ns"]) { scanner, cells in
      guard let frame = scanner.timestamp(inCell: cells[0])?.nanoseconds,
        let frame = Int(exactly: frame),
        let time = scanner.timestamp(inCell: cells[1])?.nanoseconds
      else { return }
      times[frame] = time
    }
    return times
  }

  /// Acceleration and rotation, from `imu.csv`.
  static func series(_ imu: InputArtifact?) -> [MotionSeries3] {
    let sensors = MotionReadings.kinds.flatMap(\.sensors)
    let names = sensors.map { Array($0.utf8) }
    var found = sensors.map { _ in MotionSeries3(title: "", unit: "", gapNanoseconds: .max) }
    let columns = ["timestamp_ns", "sensor_type", "x", "y", "z"]
    read("imu.csv", of: imu, columns: columns) { scanner, cells in
      guard let sensor = names.firstIndex(where: { scanner.cell(cells[1], holds: $0) }),
        let time = scanner.timestamp(inCell: cells[0])?.nanoseconds,
        let x = scanner.number(inCell: cells[2]).value,
        let y = scanner.number(inCell: cells[3]).value,
        let z = scanner.number(inCell: cells[4]).value
      else { return }
      found[sensor].append(time, x, y, z)
    }
    return MotionReadings.kinds.compactMap { kind in
      let present = kind.sensors.first { name in
        sensors.firstIndex(of: name).map { !found[$0].nanoseconds.isEmpty } ?? false
      }
      guard let name = present, let place = sensors.firstIndex(of: name) else { return nil }
      var series = found[place]
      (series.title, series.unit) = ("\(kind.title) (\(name))", kind.unit)
      series.gapNanoseconds = usualGap(series.nanoseconds)
      return series
    }
  }

  /// The default rule of families that state none: three times the median step, at least 50 ms.
  private static func usualGap(_ times: [Int64]) -> Int64 {
    let steps = zip(times.dropFirst(), times).map {
      $0.subtractingReportingOverflow($1).partialValue
    }
    guard let median = Median.upper(steps) else { return .max }
    return median > .max / 3 ? .max : max(3 * median, 50_000_000)
  }

  /// Calls `body` with every whole row and the indices of `columns` in it.
  private static func read(
    _ name: String, of artifact: InputArtifact?, columns: [String],
    _ body: (borrowing CSVScanner, [Int]) -> Void
  ) {
    guard let artifact, artifact.record.outputs.contains(where: { $0.path == name }) else { return }
    let path = artifact.folder.appending(name)
    guard !FileSystem.isLink(path), var scanner = try? CSVScanner(path) else { return }
    var places: [Int]?
    while (try? scanner.nextLine()) == true, scanner.isLineClosed {
      if let places {
        body(scanner, places)
        continue
      }
      let header = (0..<scanner.cellCount).map { scanner.text(inCell: $0) }
      let found = columns.compactMap { header.firstIndex(of: $0) }
      guard found.count == columns.count else { return }
      places = found
    }
  }
}
