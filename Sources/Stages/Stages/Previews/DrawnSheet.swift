import Media
import Core
import Processing

/// An overview picture, and what it shows.
package struct DrawnSheet: Sendable {
  package var picture = ColorImage(width: 1, height: 1)
  /// Canonical indices of the displayed frames.
  package var frames: [Int] = []
  /// `color`, `overlay`, `depth`, `imu`.
  package var parts: [String] = []
  /// What could not be displayed, and why.
  package var notes: [String] = []

  mutating func note(part: String?) {
    if let part, !parts.contains(part) { parts.append(part) }
  }

  /// Adds the pictures of a frame to the sheet.
  mutating func add(
    _ shown: ShownFrame, label: String, _ range: FalseColor, to sheet: inout PreviewSheet
  ) {
    let (overlay, depth) = (shown.overlay(range), shown.falseColor(range))
    if overlay != nil { sheet.hasContours = true }
    if depth != nil { sheet.scale = range }
    note(part: overlay != nil ? "overlay" : shown.color != nil ? "color" : nil)
    note(part: depth == nil ? nil : "depth")
    sheet.cells.append(
      PreviewSheet.Cell(
        label: label, pictures: [overlay ?? shown.color, depth].compactMap(\.self)))
  }

  /// A mark in every such file, which permits replacing it.
  private static let mark = "scanmill view"

  /// The picture as a PNG or JPEG file.
  package func encoded(asJPEG: Bool) throws -> [UInt8] {
    guard asJPEG else {
      let mark = PNGText(keyword: "Software", text: Self.mark)
      var writer = PNGWriter(compression: .compact, notes: [mark].compactMap(\.self))
      return try writer.encode(picture)
    }
    var writer = try JPEGWriter(quality: 85)
    var file: [UInt8] = []
    try writer.encode(
      rgb: picture.rgb, width: picture.width, height: picture.height, into: &file)
    // A comment after the start of the file (ITU-T T.81, B.2.4.5): marker, length including itself,
    // text.
    let text = Array(Self.mark.utf8)
    file.insert(contentsOf: [0xFF, 0xFE, 0, UInt8(text.count + 2)] + text, at: min(2, file.count))
    return file
  }

  /// Whether a file was written by `encoded`. Only such files may be replaced.
  package static func isOurs(_ file: [UInt8]) -> Bool {
    let text = Array(mark.utf8)
    if file.starts(with: [0xFF, 0xD8]) { return file.dropFirst(6).starts(with: text) }
    guard file.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return false }
    let note = Array("Software".utf8) + [0] + text
    // The note is after the pixels: before its checksum and the end of the file.
    return file.dropLast(4 + 12).suffix(note.count).elementsEqual(note)
  }
}
