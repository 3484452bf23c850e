/// The binary form of a table of a COLMAP model, made from its text by the words of the format alone.
struct ColmapBytes {
  private(set) var bytes: [UInt8] = []

  init(_ table: String, _ text: String) {
    // Every second line of images.txt is that of the 2D points.
    var lines = text.split(separator: "\n", omittingEmptySubsequences: table != "images")
    if table == "images" { lines = lines.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
    lines.removeAll(where: \.isEmpty)
    integer(UInt64(lines.count))
    for line in lines {
      let fields = line.split(separator: " ").map(String.init)
      switch table {
      case "cameras": camera(fields)
      case "images": image(fields)
      default: point(fields)
      }
    }
  }

  private mutating func camera(_ fields: [String]) {
    let models = ["PINHOLE": Int32(1), "OPENCV": 4, "FULL_OPENCV": 6]
    integer(Int32(fields[0]) ?? -1)
    integer(models[fields[1]] ?? -1)
    for size in fields[2...3] { integer(UInt64(size) ?? 0) }
    numbers(fields[4...])
  }

  private mutating func image(_ fields: [String]) {
    integer(Int32(fields[0]) ?? -1)
    numbers(fields[1...7])
    integer(Int32(fields[8]) ?? -1)
    bytes += Array(fields[9].utf8) + [0]
    integer(UInt64(0))
  }

  private mutating func point(_ fields: [String]) {
    integer(UInt64(fields[0]) ?? 0)
    numbers(fields[1...3])
    bytes += fields[4...6].compactMap { UInt8($0) }
    numbers(fields[7...7])
    integer(UInt64(0))
  }

  private mutating func numbers(_ fields: ArraySlice<String>) {
    for field in fields { integer((Double(field) ?? .nan).bitPattern) }
  }

  private mutating func integer(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
