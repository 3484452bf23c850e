import Captures
import Core
import SystemPackage

/// Which files of a capture there are.
struct ToyFiles {
  static let headerName = "toy.json"
  static let framesName = "frames.csv"
  static let motionName = "motion.csv"
  static let depthName = "depth.u16"

  let folder: FilePath
  /// By name, which is by number.
  let pictures: [FilePath]
  let depth: FilePath?
  let motion: FilePath?

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    do throws(FileError) {
      let listing = try FolderListing(of: folder)
      pictures = listing.files.filter { $0.hasSuffix(".png") }.map(listing.path)
      depth = listing.contains(Self.depthName) ? listing.path(of: Self.depthName) : nil
      motion = listing.contains(Self.motionName) ? listing.path(of: Self.motionName) : nil
    } catch {
      throw CaptureError(file: folder, problem: error.reason, remedy: error.remedy)
    }
  }

  var absentNames: [String] { depth == nil ? [Self.depthName] : [] }
}
