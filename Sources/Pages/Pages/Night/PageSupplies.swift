import Core
import Engine
import Media
import Processing
import SystemPackage

/// Names and links of captures on the page of the night.
struct PageNames {
  private let ids: MiddleShortIDs
  /// Names of folders between the page and the output: `..` for a page one folder below it.
  private let above: [String]

  init(_ report: NightReport, above: [String] = []) {
    ids = MiddleShortIDs(report.captures.map(\.id))
    self.above = above
  }

  func short(_ id: String) -> String { ids[id] }

  /// The address of a page below the output folder.
  func address(_ page: String) -> PageAddress? {
    let names = page.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
    return .file(above + names)
  }

  /// The short name, linked to the capture's page if there is one. What it leaves out is there for whoever
  /// searches or copies it, and for readers.
  func link(_ capture: CaptureRow, inFull: Bool = false) -> Markup {
    let name = inFull ? Markup.name(capture.id) : shortened(capture.id)
    guard let address = capture.page.flatMap(address) else { return name }
    return Tag.a(.link(address)) { name }
  }

  /// The id, of which the part that many have in common is not seen.
  func shortened(_ id: String) -> Markup {
    guard let parts = ids.parts(id) else { return .name(id) }
    return Tag.bdi(Attribute("title", id)) {
      Markup(text: parts.head)
      Tag.span(.classes("cut")) { Markup(text: parts.middle) }
      Markup(text: parts.tail)
    }
  }
}

/// A picture with sides of at most 96 pixels.
struct PageThumbnail: Hashable {
  var jpeg: [UInt8]
  var width: Int
  var height: Int

  /// Size in a page, bytes.
  var pageBytes: Int { (jpeg.count + 2) / 3 * 4 }

  func element(named name: String) -> Markup {
    Tag.img(
      .picture(PictureData(.jpeg, jpeg)), Attribute("alt", name),
      Attribute("width", width), Attribute("height", height))
  }
}

/// Content of the page that is not in the report.
struct PageSupplies {
  /// Thumbnails by capture id.
  var thumbnails: [String: PageThumbnail] = [:]
  /// The last lines of a log, by its path relative to the output folder.
  var log: @Sendable (String) -> [String]? = { _ in nil }

  /// Dates of earlier nights of which a page is kept, the newest first.
  var keptNights: [String] = []
  /// The page is the one that is kept when the next night begins: it lies in a folder of its own.
  var isKept = false

  func thumbnail(_ capture: CaptureRow) -> PageThumbnail? { thumbnails[capture.id] }
}

/// Ids shortened in the middle, so that what differs stays: apps begin names with a word and a date that all
/// captures of a night share.
struct MiddleShortIDs {
  /// Characters that are left in front and at the end; the end is longer where that is needed to tell ids apart.
  static let head = 10
  static let leastTail = 14

  private var tails: [String: Int] = [:]

  /// Cost: proportional to the number of ids and the length of what they have in common.
  init(_ ids: some Sequence<String>) {
    // A short one is shown in full, and no other may look like it.
    var open = Set(ids).filter { $0.count > Self.head + Self.leastTail + 3 && Self.isPlain($0) }
    var tail = Self.leastTail
    while !open.isEmpty {
      var alike: Set<String> = []
      for group in Dictionary(grouping: open, by: { Self.text($0, tail) }).values {
        if group.count == 1 { tails[group[0]] = tail } else { alike.formUnion(group) }
      }
      tail += 4
      // Cutting must save something.
      open = alike.filter { $0.count > Self.head + tail + 3 }
    }
  }

  /// Escaped characters must not be cut apart.
  private static func isPlain(_ id: String) -> Bool {
    id.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  private static func text(_ id: String, _ tail: Int) -> String {
    "\(id.prefix(head))…\(id.suffix(tail))"
  }

  /// `nil`: the id is shown in full.
  func parts(_ id: String) -> (head: String, middle: String, tail: String)? {
    guard let tail = tails[id] else { return nil }
    return (
      String(id.prefix(Self.head)), String(id.dropFirst(Self.head).dropLast(tail)),
      String(id.suffix(tail))
    )
  }

  /// `session_20…1-20_kitchen`; unknown and short ids are unchanged.
  subscript(id: String) -> String { tails[id].map { Self.text(id, $0) } ?? id }
}

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
      let small = picture.thumbnail(side: side)
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
