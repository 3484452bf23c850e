import Media
import Core
import SystemPackage

/// Writes the depth and confidence files of a Stray Scanner capture, frame by frame.
struct StrayPictures {
  private let plan: StrayPlan
  private let depthFolder: FilePath
  private let confidenceFolder: FilePath
  private var files = GrayPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  init(_ folder: FilePath, plan: StrayPlan) throws {
    self.plan = plan
    depthFolder = folder.appending("depth")
    confidenceFolder = folder.appending("confidence")
    if !plan.depth.isAbsent { try FileSystem.makeFolder(depthFolder) }
    if !plan.confidence.isAbsent { try FileSystem.makeFolder(confidenceFolder) }
    if plan.depth.hasFarNumber {
      try OutputFile.write(
        [],
        to: depthFolder.appending("\(PictureFilesPlan.farNumber).\(plan.generation.depthEnding)"))
    }
  }

  mutating func append(frame: Int, depth: DepthImage, confidence: GrayImage) throws {
    let name = Decimals.padded(frame, 6)
    let ending = plan.generation.depthEnding
    if !plan.depth.isAbsent {
      let edit = plan.depth.edits[frame]
      let file =
        plan.generation == .npy ? Self.array(depth, edit) : try files.depth(depth, edit)
      if let file { try OutputFile.write(file, to: depthFolder.appending("\(name).\(ending)")) }
      if frame == plan.doubledFrame { try double(name, depth) }
    }
    let isWhole = plan.depth.isReadable(frame)
    depthDigests.append(isWhole ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    if !plan.confidence.isAbsent,
      let file = try files.confidence(confidence, plan.confidence.edits[frame])
    {
      try OutputFile.write(file, to: confidenceFolder.appending("\(name).png"))
    }
    confidenceDigests.append(
      plan.confidence.isReadable(frame) ? Digest(of: confidence.values) : nil)
  }

  /// Moves the picture into a PNG and leaves an array of zeros.
  private mutating func double(_ name: String, _ depth: DepthImage) throws {
    let zeros = DepthImage(
      width: depth.width, height: depth.height,
      millimeters: [UInt16](repeating: 0, count: depth.millimeters.count))
    if let array = Self.array(zeros, nil) {
      try OutputFile.write(array, to: depthFolder.appending("\(name).npy"))
    }
    if let picture = try files.depth(depth, nil) {
      try OutputFile.write(picture, to: depthFolder.appending("\(name).png"))
    }
  }

  /// A NumPy array of version 1; `nil` if none is written.
  private static func array(_ image: DepthImage, _ edit: PictureEdit?) -> [UInt8]? {
    func file(_ values: [UInt16], width: Int, height: Int) -> [UInt8] {
      var header =
        "{'descr': '<u2', 'fortran_order': False, 'shape': (\(height), \(width)), }"
      // Magic, version and length are ten bytes; the whole is a multiple of 64.
      header += String(repeating: " ", count: 63 - (header.utf8.count + 10) % 64) + "\n"
      return [0x93] + Array("NUMPY".utf8) + [1, 0] + Bytes.of(UInt16(header.utf8.count))
        + Array(header.utf8) + Bytes.of(values)
    }
    let whole = file(image.millimeters, width: image.width, height: image.height)
    switch edit {
    case nil: return whole
    case .absent: return nil
    case .empty: return []
    case .cut, .otherKind: return Array(whole.prefix(whole.count / 2))
    case .otherSize:
      return file(
        GrayPictureFiles.halved(image.millimeters, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }
}
