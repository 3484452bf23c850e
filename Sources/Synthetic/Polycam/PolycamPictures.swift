import Media
import Core
import SystemPackage

/// Writes the pictures of an export of Polycam, frame by frame.
struct PolycamPictures {
  private let plan: PolycamPlan
  private let folder: FilePath
  private var gray = GrayPictureFiles()
  private let jpeg = JPEGPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  /// A time, microseconds, that no other file of the export is near to.
  private static let farMicroseconds = 5

  /// - Parameter folder: that of `images`, `depth` and the others.
  init(_ folder: FilePath, plan: PolycamPlan) throws {
    self.plan = plan
    self.folder = folder
    var names = ["cameras", "corrected_cameras", "corrected_images"]
    if !plan.color.isAbsent { names.append("images") }
    if !plan.depth.isAbsent { names.append("depth") }
    if !plan.confidence.isAbsent { names.append("confidence") }
    for name in names { try FileSystem.makeFolder(folder.appending(name)) }
    if plan.depth.hasFarNumber {
      try OutputFile.write(
        [], to: folder.appending("depth").appending("\(Self.farMicroseconds).png"))
    }
  }

  mutating func append(
    frame: Int, _ microseconds: Int64, depth: DepthImage, confidence: GrayImage
  ) throws {
    // The app stores low, medium and high so.
    let stored = GrayImage(
      width: confidence.width, height: confidence.height,
      values: confidence.values.map { [0, 127, 255][Int(min($0, 2))] })
    if !plan.depth.isAbsent {
      try write(self.gray.depth(depth, plan.depth.edits[frame]), "depth", "\(microseconds).png")
    }
    if !plan.confidence.isAbsent {
      try write(
        self.gray.confidence(stored, plan.confidence.edits[frame]), "confidence",
        "\(microseconds).png")
    }
    depthDigests.append(
      plan.depth.isReadable(frame) ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    confidenceDigests.append(plan.confidence.isReadable(frame) ? Digest(of: stored.values) : nil)
  }

  /// Writes a picture, and what the app makes of it afterwards, which no reader may take for it.
  func append(frame: Int, _ microseconds: Int64, color image: ColorImage) throws {
    let name = "\(microseconds).jpg"
    try write(jpeg.file(image, plan.color.edits[frame]), "images", name)
    try write(jpeg.file(image, .otherSize), "corrected_images", name)
  }

  /// Writes a camera file, and one that the app has improved.
  func append(_ microseconds: Int64, camera bytes: [UInt8]?) throws {
    try write(bytes, "cameras", "\(microseconds).json")
    try write(Array("{}".utf8), "corrected_cameras", "\(microseconds).json")
  }

  private func write(_ file: [UInt8]?, _ inner: String, _ name: String) throws {
    if let file { try OutputFile.write(file, to: folder.appending(inner).appending(name)) }
  }
}
