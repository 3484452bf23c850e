import Codecs
import Geometry
import Output
import Parallel
import Processing
import Storage
import SystemPackage

/// Small pictures of captures for the page of the night, kept beside each capture's notes: a page every five
/// minutes decodes nothing that it has seen.
struct ThumbnailSource {
  let root: FilePath

  static let cacheName = "thumb-96.jpg"
  static let side = 96
  static let mostBytes = 3_000
  private static let mostSourceBytes: Int64 = 64 << 20

  /// Pictures of `captures` in this order until they take `room` bytes in a page. Cost: per capture a few
  /// looks and a small read, the decoding of one picture where nothing is kept.
  func thumbnails(_ captures: [NightCapture], room: Int) -> [String: PageThumbnail] {
    var found: [String: PageThumbnail] = [:]
    var left = room
    var rest = captures.filter { $0.page != nil }[...]
    while !rest.isEmpty, left > 0 {
      let some = Array(rest.prefix(32))
      rest = rest.dropFirst(32)
      let pictures =
        (try? concurrentMap(count: some.count) { thumbnail(of: some[$0].id) }) ?? []
      for (capture, picture) in zip(some, pictures) {
        guard let picture else { continue }
        left -= picture.pageBytes
        found[capture.id] = picture
      }
    }
    return found
  }

  /// `nil` where nothing is published that could be shown.
  func thumbnail(of id: String) -> PageThumbnail? {
    let layout = OutputLayout(root: root, name: id)
    guard let folder = try? HeldFolder.following(root).folder(id),
      let (file, name) = source(in: folder, layout), let stamp = FileStamp(of: file)
    else { return nil }
    let key = "\(name) \(stamp.bytes) \(stamp.modifiedNanoseconds) \(stamp.inode)"
    let notes = try? folder.folder(NotesFile.folderName)
    if let kept = try? notes?.contents(of: Self.cacheName, limit: 1 << 16),
      let picture = Self.unpacked(kept, key: key)
    {
      return picture
    }
    guard stamp.bytes <= Self.mostSourceBytes, let picture = Self.make(file) else { return nil }
    // Only to save time: an output that cannot be written has its page all the same.
    try? notes?.replace(Self.cacheName, with: Self.packed(picture, key: key), durably: false)
    return picture
  }

  // MARK: Source

  /// What the thumbnail stage made, else the first color picture, else the preview.
  private func source(in folder: HeldFolder, _ layout: OutputLayout) -> (FilePath, String)? {
    if let found = file("thumbnail.png", in: folder, "thumbnail", layout) { return found }
    for name in ["000000.png", "000000.jpg"] {
      if let found = file(name, in: folder, "color", layout) { return found }
    }
    for stage in ["color", "preview"] {
      guard let inner = try? folder.folder(stage), let names = try? inner.names() else { continue }
      let first = names.first {
        $0.hasSuffix(".png") || $0.hasSuffix(".jpg") || $0.hasSuffix(".jpeg")
      }
      if let first, let found = file(first, in: folder, stage, layout) { return found }
    }
    return nil
  }

  private func file(
    _ name: String, in folder: HeldFolder, _ stage: String, _ layout: OutputLayout
  ) -> (FilePath, String)? {
    guard let inner = try? folder.folder(stage), let entry = try? inner.entry(name),
      entry.kind == .file
    else { return nil }
    return (layout.artifact(stage).appending(name), "\(stage)/\(name)")
  }

  // MARK: Picture

  /// At most 96 pixels a side and 3,000 bytes; `nil` for what cannot be decoded.
  static func make(_ file: FilePath) -> PageThumbnail? {
    guard let picture = try? StillImage.read(file).upright else { return nil }
    return make(of: picture)
  }

  static func make(of picture: ColorImage) -> PageThumbnail? {
    var bytes: [UInt8] = []
    // Noise is what needs the small sizes.
    for side in [side, 64, 32] {
      let small = Thumbnail.make(of: picture, side: side)
      for quality in [70, 55, 40, 25, 10] {
        guard var writer = try? JPEGWriter(quality: quality),
          (try? writer.encode(
            rgb: small.rgb, width: small.width, height: small.height, into: &bytes)) != nil
        else { return nil }
        if bytes.count <= mostBytes {
          return PageThumbnail(jpeg: bytes, width: small.width, height: small.height)
        }
      }
    }
    return nil
  }

  // MARK: What is kept

  /// The JPEG with a comment in it: size and key.
  static func packed(_ picture: PageThumbnail, key: String) -> [UInt8] {
    let text = Array("scanmill \(picture.width) \(picture.height) \(key)".utf8.prefix(60_000))
    let length = text.count + 2
    return Array(picture.jpeg.prefix(2)) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)]
      + text + picture.jpeg.dropFirst(2)
  }

  /// `nil` when it is damaged, or of another source.
  static func unpacked(_ file: [UInt8], key: String) -> PageThumbnail? {
    guard file.count > 6, file.starts(with: [0xFF, 0xD8, 0xFF, 0xFE]),
      file.suffix(2).elementsEqual([0xFF, 0xD9])
    else { return nil }
    let length = Int(file[4]) << 8 | Int(file[5])
    guard length >= 2, 4 + length < file.count else { return nil }
    let words = String(decoding: file[6..<(4 + length)], as: UTF8.self)
      .split(separator: " ", maxSplits: 3)
    guard words.count == 4, words[0] == "scanmill", words[3] == key, let width = Int(words[1]),
      let height = Int(words[2]), (1...side).contains(width), (1...side).contains(height)
    else { return nil }
    let jpeg = Array(file.prefix(2) + file.dropFirst(4 + length))
    guard jpeg.count <= mostBytes else { return nil }
    return PageThumbnail(jpeg: jpeg, width: width, height: height)
  }
}
