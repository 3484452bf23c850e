import Core
import Media
import Engine
import SystemPackage

/// The pictures of an artifact by frame, from its record.
struct PictureIndex: Sendable {
  struct Entry: Sendable {
    var frame: Int
    var path: String
    var bytes: Int64
  }

  /// Entries by ascending frame.
  let entries: [Entry]
  let stage: String
  private let folder: FilePath
  /// How pictures of linear light are shown; `nil` for others.
  private let light: LightView?

  /// `nil` if the artifact is absent or contains no pictures.
  init?(_ stage: PublishedStages.Stage?, _ layout: OutputLayout) {
    guard let stage, let record = stage.record, !stage.isRemoved else { return nil }
    entries = FrameFileName.pictures(in: record)
      .map { Entry(frame: $0.key, path: $0.value.path, bytes: $0.value.bytes) }
      .sorted { $0.frame < $1.frame }
    if entries.isEmpty { return nil }
    light = record.whiteOfLinearLight.map { LightView(white: $0) }
    self.stage = stage.name
    folder = layout.artifact(stage.name)
  }

  func entry(_ frame: Int) -> Entry? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].frame < frame { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].frame == frame ? entries[low] : nil
  }

  /// Throws an error with a sentence for people.
  func color(_ entry: Entry) throws(UnreadablePicture) -> ColorImage {
    try checked(entry) { file in
      guard let light else { return try StillImage.read(file).picture }
      let wide = try PNGReader.wideColor(at: file)
      var rgb: [UInt8] = []
      light.show(wide.rgb, into: &rgb)
      return ColorImage(width: wide.width, height: wide.height, rgb: rgb)
    }
  }

  func depth(_ entry: Entry) throws(UnreadablePicture) -> DepthImage {
    try checked(entry) { try PNGReader.depth(at: $0) }
  }

  private func checked<Picture>(
    _ entry: Entry, _ read: (FilePath) throws -> Picture
  ) throws(UnreadablePicture) -> Picture {
    let file = folder.appending(entry.path)
    let name = "\(stage)/\(entry.path)"
    guard !FileSystem.isLink(file), let identity = try? FileIdentity(of: file) else {
      throw UnreadablePicture(words: "\(name) no longer exists")
    }
    if identity.bytes == 0 { throw UnreadablePicture(words: "\(name) is empty") }
    do {
      return try read(file)
    } catch let error as ImageError {
      throw UnreadablePicture(words: "\(name): \(error.what)")
    } catch {
      throw UnreadablePicture(words: "\(name) cannot be read")
    }
  }
}

/// Why a picture cannot be displayed, as text.
struct UnreadablePicture: Error, Hashable {
  var words: String
}
