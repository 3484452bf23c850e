/// The pixel format in the header of a PNG or JPEG file. Nothing is checked or decoded. Cost: a
/// walk over the segments before the picture.
public struct StoredPicture: Hashable, Sendable {
  public enum Kind: Sendable { case png, jpeg }

  public var kind: Kind
  public var width: Int
  public var height: Int
  public var bitDepth: Int
  /// Number of channels: 1 gray, 3 color; palettes count as 1, alpha as one more.
  public var channels: Int

  /// `nil` for other files, and for those that end within the header.
  public init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), bytes.count >= 26 {
      func number(_ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      }
      kind = .png
      (width, height) = (number(16), number(20))
      bitDepth = Int(bytes[24])
      // Color types of PNG: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
      switch bytes[25] {
      case 2: channels = 3
      case 4: channels = 2
      case 6: channels = 4
      default: channels = 1
      }
      return
    }
    guard bytes.starts(with: [0xFF, 0xD8]), let frame = Self.startOfFrame(bytes) else { return nil }
    kind = .jpeg
    bitDepth = Int(bytes[frame])
    height = Int(bytes[frame + 1]) << 8 | Int(bytes[frame + 2])
    width = Int(bytes[frame + 3]) << 8 | Int(bytes[frame + 4])
    channels = Int(bytes[frame + 5])
  }

  /// Offset of a JPEG file's depth, height, width and channels: six bytes, all present.
  private static func startOfFrame(_ bytes: [UInt8]) -> Int? {
    var offset = 2
    while offset + 10 <= bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      switch marker {
      case 0xFF: offset += 1
      case 0x01, 0xD0...0xD8: offset += 2
      case 0xD9, 0xDA: return nil
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker): return offset + 4
      default: offset += 2 + max(2, Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
      }
    }
    return nil
  }
}
