import Core
import Engine
import FoundationEssentials
import Media
import SystemPackage
import Glibc

/// A shard as HDF5: a group for each capture, whose datasets have a row for each sample.
///
/// Pictures of color stay the files that were published, as `cv2.imdecode` and Pillow take them: pixels would take five
/// times the space. Depth and confidence become arrays, so that ranges of frames and parts of pictures can be sliced.
/// Compression is on all cores, the library in one thread. Memory: a batch of at most 16 MiB and one sample,
/// and the numbers of one group.
extension Shard {
  func writeHDF5(
    to descriptor: FileDescriptor, at path: FilePath, skipped: (Sample, PackError) -> Void
  ) throws {
    let file = try HDF5Object.file(descriptor, at: path)
    do {
      try file.attribute("format", "scanmill pack 1")
      var rest = samples[...]
      while let first = rest.first {
        let group = rest.prefix { $0.capture == first.capture }
        rest = rest.dropFirst(group.count)
        try file.group(first.capture) { try HDF5Capture.write(group, to: $0, skipped) }
      }
    } catch {
      try? file.closeFile()
      throw error
    }
    try file.closeFile()
    guard fsync(descriptor.rawValue) == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "flush")
    }
  }
}

/// The datasets of one capture.
private struct HDF5Capture {
  /// One sample, read, verified and compressed.
  private struct Row {
    /// Their shape is height and width; `nil`: the bytes of the file.
    var pictures: [(column: String, bytes: [UInt8], shape: [Int]?)] = []
    /// What of `KEY.json` becomes arrays.
    struct Told: Decodable {
      var frame: Int64
      var timestamp: Int64?
      var pose: [String: JSONValue]?
      var intrinsics: [String: JSONValue]?

      enum CodingKeys: String, CodingKey {
        case timestamp = "timestamp_ns"
        case frame, pose, intrinsics
      }
    }

    var told: Told

    init(_ sample: Shard.Sample) throws {
      told = try JSONDecoder().decode(Told.self, from: Data(sample.json))
      for file in sample.files {
        let content = try file.verified()
        switch file.column {
        case "color":
          pictures.append((file.column, content, nil))
        case "confidence", PublishedFrames.mask:
          let image = try PNGReader.gray(in: content, file: file.path)
          pictures.append(
            (file.column, try HDF5Object.chunk(image.values), [image.height, image.width]))
        default:
          let image = try PNGReader.depth(in: content, file: file.path)
          pictures.append(
            (file.column, try HDF5Object.chunk(image.millimeters), [image.height, image.width]))
        }
      }
    }
  }

  private let group: HDF5Object
  /// Rows that there are at most.
  private let count: Int
  private var datasets: [String: (dataset: HDF5Object, shape: [Int]?, has: [UInt8])] = [:]
  private var rows = 0
  private var frames: [Int64] = []
  private var timestamps: [Int64] = []
  private var poses: [Double] = []
  private var intrinsics: [Double] = []

  static func write(
    _ samples: ArraySlice<Shard.Sample>, to group: HDF5Object,
    _ skipped: (Shard.Sample, PackError) -> Void
  ) throws {
    guard let first = samples.first else { return }
    var capture = HDF5Capture(group: group, count: samples.count)
    try group.attribute("capture", first.capture)
    let json = try group.dataset(
      "json", .text, [samples.count], chunkRows: 64,
      attributes: ["content": "what the tables say of the frame"])
    var rest = samples
    while !rest.isEmpty {
      var size: Int64 = 0
      let batch = Array(
        rest.prefix(64).prefix { sample in
          defer { size += sample.bytes }
          return size < 16 << 20
        })
      rest = rest.dropFirst(batch.count)
      let read = try concurrentMap(count: batch.count) { index in
        Result { try Row(batch[index]) }
      }
      for (sample, result) in zip(batch, read) {
        do {
          let row = try result.get()
          if let problem = capture.problem(row) { throw PackError(problem) }
          try json.write(element: sample.json, row: capture.rows)
          try capture.add(row)
        } catch let error as FileError where error.operation == "write" {
          throw error
        } catch {
          skipped(sample, error as? PackError ?? PackError("\(error)"))
        }
      }
    }
    try json.closeDataset(rows: capture.rows)
    try capture.finish()
    if let motion = first.motion { try capture.write(motion) }
  }

  /// Why a row does not fit into the arrays.
  private func problem(_ row: Row) -> String? {
    for picture in row.pictures {
      if let shape = picture.shape, let known = datasets[picture.column]?.shape, known != shape {
        return
          "\(picture.column) has \(shape[1])x\(shape[0]) pixels, those before it \(known[1])x\(known[0]): one array cannot hold both, --to webdataset can"
      }
    }
    return nil
  }

  private mutating func add(_ row: Row) throws {
    for picture in row.pictures {
      let name = picture.column
      if datasets[name] == nil {
        datasets[name] = (
          try dataset(name, picture.shape), picture.shape, [UInt8](repeating: 0, count: count)
        )
      }
      guard let dataset = datasets[name]?.dataset else { continue }
      if picture.shape == nil {
        try dataset.write(element: picture.bytes, row: rows)
      } else {
        try dataset.write(chunk: picture.bytes, row: rows)
      }
      datasets[name]?.has[rows] = 1
    }
    frames.append(row.told.frame)
    timestamps.append(row.told.timestamp ?? .min)
    let numbers = Self.numbers(row.told.pose, ["tx", "ty", "tz", "qx", "qy", "qz", "qw"])
    poses +=
      numbers.map {
        RigidTransform(
          rotation: Quaternion(x: $0[3], y: $0[4], z: $0[5], w: $0[6]).rotation,
          translation: Array($0[..<3])
        ).rowMajor
      } ?? [Double](repeating: .nan, count: 16)
    intrinsics +=
      Self.numbers(row.told.intrinsics, ["fx", "fy", "cx", "cy"])
      .map { [$0[0], 0, $0[2], 0, $0[1], $0[3], 0, 0, 1] } ?? [Double](repeating: .nan, count: 9)
    rows += 1
  }

  private static func numbers(_ values: [String: JSONValue]?, _ names: [String]) -> [Double]? {
    guard let values else { return nil }
    let numbers = names.compactMap { values[$0]?.number }
    return numbers.count == names.count ? numbers : nil
  }

  private func dataset(_ name: String, _ shape: [Int]?) throws -> HDF5Object {
    guard let shape else {
      return try group.dataset(
        name, .bytes, [count], chunkRows: 64,
        attributes: ["content": "encoded pictures (PNG, JPEG); empty: none"])
    }
    let attributes =
      switch name {
      case "confidence": ["content": "as the app states it"]
      case PublishedFrames.mask: ["content": "255: used; 0: not", "frame": "the grid of color"]
      default:
        [
          "units": "mm", "content": "along the optical axis; 0: none",
          "frame": name == "aligned" ? "the grid of color" : "the grid of depth",
        ]
      }
    return try group.dataset(
      name, attributes["units"] == nil ? .uint8 : .uint16, [count] + shape, chunkRows: 1,
      attributes: attributes)
  }

  /// Writes what is gathered, and gives every dataset its number of rows.
  private func finish() throws {
    for (name, picture) in datasets.sorted(by: { $0.key < $1.key }) {
      try picture.dataset.closeDataset(rows: rows)
      try write(
        "has_\(name)", .uint8, [rows], Array(picture.has[..<rows]),
        ["content": "1 where the frame has a picture"])
    }
    try write("frame", .int64, [rows], frames, ["content": "number of the frame in the capture"])
    try write(
      "timestamp_ns", .int64, [rows], timestamps,
      ["units": "ns", "content": "the clock of the capture; -9223372036854775808: none"])
    try write(
      "poses", .float64, [rows, 4, 4], poses,
      [
        "units": "m", "frame": "world from camera; camera x right, y down, z forward",
        "content": "NaN: none",
      ])
    try write(
      "intrinsics", .float64, [rows, 3, 3], intrinsics,
      ["units": "px", "frame": "color; pixel centers at integers", "content": "NaN: none"])
  }

  private func write<Number: BitwiseCopyable>(
    _ name: String, _ element: HDF5Object.Element, _ dimensions: [Int], _ numbers: [Number],
    _ attributes: [String: String]
  ) throws {
    let dataset = try group.dataset(name, element, dimensions, attributes: attributes)
    try dataset.write(numbers)
    try dataset.closeDataset()
  }

  /// `imu/SENSOR/timestamp_ns` and `imu/SENSOR/values`: all samples of the capture.
  private func write(_ motion: PublishedMotion) throws {
    let path = motion.file.path
    let sensors = try Self.sampleCounts(path)
    try group.group("imu") { imu in
      if let convention = motion.convention { try imu.attribute("convention", convention) }
      for (sensor, count) in sensors.sorted(by: { $0.key < $1.key }) {
        try imu.group(sensor.replacing("/", with: "_")) { group in
          let times = try group.dataset(
            "timestamp_ns", .int64, [count], attributes: ["units": "ns"])
          var attributes = ["frame": "device upright: x right, y up, z out of the screen"]
          attributes["units"] = Self.units[sensor]
          let values = try group.dataset("values", .float64, [count, 3], attributes: attributes)
          var row = 0
          try Self.readSamples(path, of: sensor) { nanoseconds, numbers in
            try times.write(nanoseconds, fromRow: row)
            try values.write(numbers, fromRow: row)
            row += nanoseconds.count
          }
          try times.closeDataset()
          try values.closeDataset()
        }
      }
    }
  }
}

/// The samples of `imu.csv`.
extension HDF5Capture {
  /// Units of the sensors that the program knows; others keep the unit of the app.
  private static let units = [
    "accelerometer": "m/s^2", "userAcceleration": "m/s^2", "gravity": "m/s^2",
    "gyroscope": "rad/s", "rotationRate": "rad/s", "attitude": "rad", "magnetometer": "uT",
  ]

  /// By sensor.
  private static func sampleCounts(_ path: FilePath) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    var scanner = try CSVScanner(path)
    guard try scanner.nextLine() else { return [:] }
    while try scanner.nextLine() { counts[scanner.text(inCell: 1), default: 0] += 1 }
    return counts
  }

  /// Calls `body` with the samples of one sensor, in pieces.
  private static func readSamples(
    _ path: FilePath, of sensor: String, _ body: ([Int64], [Double]) throws -> Void
  ) throws {
    var scanner = try CSVScanner(path)
    guard try scanner.nextLine() else { return }
    let name = Array(sensor.utf8)
    var times: [Int64] = []
    var values: [Double] = []
    while try scanner.nextLine() {
      guard scanner.cell(1, holds: name) else { continue }
      guard scanner.cellCount == 5, let time = Int64(scanner.text(inCell: 0)) else {
        throw PackError("\(path.shown), line \(scanner.lineNumber): not a sample: run it again")
      }
      times.append(time)
      for cell in 2..<5 { values.append(Double(scanner.text(inCell: cell)) ?? .nan) }
      if times.count == 4_096 {
        try body(times, values)
        times.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
      }
    }
    if !times.isEmpty { try body(times, values) }
  }
}
