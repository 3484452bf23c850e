import Core
import Media
import SystemPackage

/// The stored bytes of pictures that are one file each, in a folder or an archive. Called by several
/// threads at once.
protocol StoredPictures: Sendable {
  /// Number of files, readable or not.
  var count: Int { get }
  /// The folder or archive.
  var path: FilePath { get }
  /// The files that must be read.
  var paths: [FilePath] { get }
  /// A picture's file, inside the folder or archive.
  func file(of index: Int) -> String
  /// The name of a picture inside the capture, for messages.
  func name(of index: Int) -> String
  /// The bytes of a whole file, or why there are none. Throws if the file cannot be opened.
  func bytes(of index: Int) throws -> StoredBytes
  /// The EXIF orientations of all files, where that is cheap to tell; else empty.
  var orientations: Set<Int> { get }
}

extension StoredPictures {
  var orientations: Set<Int> { [] }
}

enum StoredBytes {
  case bytes([UInt8])
  case none(FrameIssue)
}

/// Color pictures of one file each, JPEG or PNG, decoded on demand and upright.
///
/// A file that cannot be read whole has no picture: nothing is made up for the part that is lost.
///
/// Depth, intrinsics and poses belong to the grid that the app stores pictures in, so all pictures of that size get one
/// turn, whatever they state: what the first states, and none where they state different ones.
/// Which frame picture k belongs to is told by `ColorStream.frameOfPicture`.
public struct ColorPictures: Sendable {
  /// A decoded picture, damage, or a picture of another size, which is both.
  public struct Outcome: Sendable {
    /// Upright.
    public var picture: ColorImage?
    public var issue: FrameIssue?
  }

  /// A file that was read and checked; `bytes` is `nil` for a hole.
  public struct Stored: Sendable {
    public var bytes: [UInt8]?
    /// Whether the file can be copied as a JPEG picture: upright as it is stored.
    public var isUprightJPEG = false
    public var issue: FrameIssue?
  }

  /// The header of the first readable picture, of the wanted size if there is any at the beginning, with the
  /// orientation of all of its size; `nil` if none is readable. Where depth, intrinsics and poses belong to
  /// the upright picture, it is that of an upright one.
  let head: StillImage.Header?
  /// The header as it is stored.
  private let storedHead: StillImage.Header?
  /// Index of that picture; `nil` if none is readable.
  public let first: Int?
  /// The upright size that all pictures must have; `nil` for any.
  public let size: PictureSize?
  private let files: any StoredPictures
  /// Whether pictures of another size than `size` are kept; otherwise they are holes. Both are reported.
  private let keepsOtherSizes: Bool
  /// Behind so many files the first readable picture stands for all, whatever its size.
  private static let mostOfOtherSize = 8

  /// Cost: decodes files from the first on until one is readable and of the wanted size, at the beginning.
  ///
  /// - Parameter size: what the app states, by default that of the first readable picture. Where the upright
  ///   picture has it and the stored one has not, the app's grid is upright.
  init(
    _ files: any StoredPictures, size: PictureSize? = nil, keepsOtherSizes: Bool = false
  ) {
    self.files = files
    self.keepsOtherSizes = keepsOtherSizes
    var found: (index: Int, head: StillImage.Header)?
    for index in 0..<files.count {
      guard case .bytes(let bytes)? = try? files.bytes(of: index),
        let head = try? StillImage.check(bytes)
      else { continue }
      let isWanted = size.map { $0 == head.uprightSize } ?? true
      if found == nil || isWanted { found = (index, head) }
      if isWanted || index >= Self.mostOfOtherSize { break }
    }
    if found != nil, files.orientations.count > 1 { found?.head.exifOrientation = 1 }
    first = found?.index
    storedHead = found?.head
    var head = found?.head
    if let size, let stored = head, stored.uprightSize == size, stored.storedSize != size,
      !VideoOrientation(exif: stored.exifOrientation).isMirrored
    {
      head?.storedWidth = size.width
      head?.storedHeight = size.height
      head?.exifOrientation = 1
    }
    self.head = head
    self.size = size ?? found?.head.uprightSize
  }

  /// Number of files, readable or not.
  public var count: Int { files.count }

  /// Decodes a picture. Throws if its file cannot be opened.
  public func decode(_ index: Int) throws -> Outcome {
    let bytes: [UInt8]
    switch try files.bytes(of: index) {
    case .none(let issue): return Outcome(issue: issue)
    case .bytes(let read): bytes = read
    }
    if bytes.isEmpty { return Outcome(issue: emptiness(index)) }
    do throws(ImageError) {
      let still = try StillImage.readWhole(bytes)
      let turn = turn(still.exifOrientation, still.picture.width, still.picture.height)
      let picture = still.picture.upright(exifOrientation: turn)
      let issue = sizeIssue(index, picture.width, picture.height)
      return Outcome(
        picture: issue != nil && !keepsOtherSizes ? nil : picture,
        issue: issue ?? turnIssue(index, stated: still.exifOrientation, used: turn))
    } catch {
      return Outcome(issue: damage(index, error))
    }
  }

  /// Reads a file and checks that its picture can be decoded whole, without making its pixels.
  ///
  /// Cost: reading, and for a JPEG about a third of decoding it.
  public func stored(_ index: Int) throws -> Stored {
    let bytes: [UInt8]
    switch try files.bytes(of: index) {
    case .none(let issue): return Stored(issue: issue)
    case .bytes(let read): bytes = read
    }
    if bytes.isEmpty { return Stored(issue: emptiness(index)) }
    do throws(ImageError) {
      var head = try StillImage.check(bytes)
      let stated = head.exifOrientation
      head.exifOrientation = turn(stated, head.storedWidth, head.storedHeight)
      let issue = sizeIssue(index, head.uprightSize.width, head.uprightSize.height)
      let isHole = issue != nil && !keepsOtherSizes
      return Stored(
        bytes: isHole ? nil : bytes,
        isUprightJPEG: head.isJPEG && stated == 1 && head.exifOrientation == 1,
        issue: issue ?? turnIssue(index, stated: stated, used: head.exifOrientation))
    } catch {
      return Stored(issue: damage(index, error))
    }
  }

  /// The orientation that is applied to a picture of this stored size.
  private func turn(_ stated: Int, _ width: Int, _ height: Int) -> Int {
    guard let head = storedHead, (width, height) == (head.storedWidth, head.storedHeight) else {
      return stated
    }
    return head.exifOrientation
  }

  private func turnIssue(_ index: Int, stated: Int, used: Int) -> FrameIssue? {
    guard stated != used else { return nil }
    return FrameIssue(
      code: .mixedOrientations,
      message:
        "\(files.name(of: index)) states EXIF orientation \(stated), others state another one; depth and poses belong "
        + "to the grid that all have in common, so it got the orientation \(used) as they did")
  }

  private func sizeIssue(_ index: Int, _ width: Int, _ height: Int) -> FrameIssue? {
    guard let size, width != size.width || height != size.height else { return nil }
    return FrameIssue(
      code: .sizeMismatch,
      message: "\(files.name(of: index)): \(width)x\(height), not \(size.width)x\(size.height)")
  }

  private func emptiness(_ index: Int) -> FrameIssue {
    FrameIssue(code: .emptyRecord, message: "\(files.name(of: index)): 0 bytes")
  }

  private func damage(_ index: Int, _ error: ImageError) -> FrameIssue {
    let place = error.byteOffset.map { ", byte \($0)" } ?? ""
    return FrameIssue(
      code: .corruptRecord, message: "\(files.name(of: index))\(place): \(error.what)")
  }
}
