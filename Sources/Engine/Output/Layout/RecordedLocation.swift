import Captures
import Core
import SystemPackage

/// The place that an output folder was made from, as far as it is noted.
public struct RecordedLocation: Hashable, Sendable {
  /// The capture's name before it became a folder name.
  public var id: String
  public var family: CaptureFamily?
  /// The folder as `PathText` carries it.
  public var folder: String
  public var stem: String?

  /// `nil` where nothing is noted. Reads a small file or two.
  public init?(of layout: OutputLayout) { self.init(OutputFolderState(layout)) }

  /// What the state of the folder says.
  init?(_ state: OutputFolderState) {
    switch state {
    case .owned(let owner):
      (id, family, folder, stem) = (owner.id, owner.family, owner.folder, owner.stem)
    case .remembered(let cache):
      (id, family, folder, stem) = (cache.id, cache.family, cache.folder, cache.stem)
    case .described(let path, let name): (id, folder) = (name, path)
    case .absent, .vacant, .foreign: return nil
    }
  }

  /// Whether nothing is there any more. A place that cannot be looked at is not gone.
  var isGone: Bool { CaptureLocation(FilePath(text: folder), stem: stem).isGone }
}
