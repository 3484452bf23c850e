import Core
import Media
import Engine
import Processing
import SystemPackage

/// Thumbnails of captures for the page of the night. They are cached with each capture, so that a
/// page that is written every five minutes decodes only new pictures.
struct ThumbnailSource {
  let root: FilePath

  static let cacheName = "thumb-96.jpg"
  static let side = 96
  static let mostBytes = 3_000
  private static let mostSourceBytes: Int64 = 64 << 20

  /// Thumbnails of `captures`, in this order, up to `byteLimit` bytes in a page. Cost: some system
  /// calls and a small read per capture; decoding one picture where nothing is cached.
  func thumbnails(_ captures: [CaptureRow], byteLimit: Int) -> [String: PageThumbnail] {
    var found: [String: PageThumbnail] = [:]
    var left = byteLimit
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

  /// `nil` if there is no suitable picture.
  func thumbnail(of id: String) -> PageThumbnail? {
    let layout = OutputLayout(root: root, name: id)
    guard let folder = try? HeldFolder.following(root).folder(id),
      let (file, name) = source(in: folder, layout), let stamp = FileStamp(of: file)
    else { return nil }
    let key = "\(name) \(stamp.bytes) \(stamp.modifiedNanoseconds) \(stamp.inode)"
    let notes = try? folder.folder(OutputNames.notes)
    if let kept = try? notes?.contents(of: Self.cacheName, limit: 1 << 16),
      let picture = Self.unpacked(kept, key: key)
    {
      return picture
    }
    guard stamp.bytes <= Self.mostSourceBytes, let picture = Self.make(file) else { return nil }
    // Only a cache: a page is also made for an output that cannot be written to.
    try? notes?.replace(Self.cacheName, with: Self.packed(picture, key: key), durably: false)
    return picture
  }

  // MARK: Source

  /// The picture of the thumbnail stage, else the first color picture, else the preview.
  private func source(in folder: HeldFolder, _ layout: OutputLayout) -> (FilePath, String)? {
    if let found = file("thumbnail.png", in: folder, "thumbnail", layout) { return found }
    for name in ["000000.png", "000000.jpg"] {
      if let found = file(name, in: folder, "color", layout) { return found }
    }
    for stage in ["color", "preview", "previews"] {
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
    // Only noisy pictures need the smaller sizes.
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

  /// The JPEG with size and key in a comment.
  static func packed(_ picture: PageThumbnail, key: String) -> [UInt8] {
    let text = Array("scanmill \(picture.width) \(picture.height) \(key)".utf8.prefix(60_000))
    let length = text.count + 2
    return Array(picture.jpeg.prefix(2)) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)]
      + text + picture.jpeg.dropFirst(2)
  }

  /// `nil` if the file is damaged or has another key.
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
