import Media
import Core
import SystemPackage

/// Writes the pictures of an export of 3D Scanner App, frame by frame.
struct ThreeDAppPictures {
  private let plan: ThreeDAppPlan
  private let folder: FilePath
  private var files = GrayPictureFiles()
  private let color = JPEGPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  init(_ folder: FilePath, plan: ThreeDAppPlan) throws {
    self.plan = plan
    self.folder = folder
    if plan.depth.hasFarNumber {
      try OutputFile.write([], to: folder.appending("depth_\(PictureFilesPlan.farNumber).png"))
    }
  }

  mutating func append(frame: Int, depth: DepthImage, confidence: GrayImage) throws {
    if !plan.depth.isAbsent {
      try write(files.depth(depth, plan.depth.edits[frame]), "depth_\(Self.number(frame)).png")
    }
    if !plan.confidence.isAbsent {
      try write(
        files.confidence(confidence, plan.confidence.edits[frame]),
        "conf_\(Self.number(frame)).png")
    }
    let isDepthWhole = plan.depth.isReadable(frame)
    depthDigests.append(isDepthWhole ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    let isConfidenceWhole = plan.confidence.isReadable(frame)
    confidenceDigests.append(isConfidenceWhole ? Digest(of: confidence.values) : nil)
  }

  func append(frame: Int, color image: ColorImage) throws {
    try write(color.file(image, plan.color.edits[frame]), "frame_\(Self.number(frame)).jpg")
    if frame == 0 { try write(color.file(image, .otherSize), "thumb_00000.jpg") }
  }

  private func write(_ file: [UInt8]?, _ name: String) throws {
    if let file { try OutputFile.write(file, to: folder.appending(name)) }
  }

  static func number(_ frame: Int) -> String { Decimals.padded(frame, 5) }
}
