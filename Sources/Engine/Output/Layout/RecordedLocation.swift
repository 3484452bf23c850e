import Captures
import Core
import SystemPackage

/// The place that an output folder was made from, as far as it is noted.
public struct RecordedLocation: Hashable, Sendable {
  /// As the capture was called before it became a folder name.
  public var id: String
  public var family: CaptureFamily?
  /// As `PathText` carries it.
  public var folder: String
  public var stem: String?

  /// `nil` where nothing is noted. Reads a small file or two.
  public init?(of layout: OutputLayout) { self.init(OutputFolderState(layout)) }

  /// What the state of the folder says.
  init?(_ state: OutputFolderState) {
    switch state {
    case .owned(let owner):
      (id, family, folder, stem) = (owner.id, owner.family, owner.folder, owner.stem)
    case .remembered(let memo):
      (id, family, folder, stem) = (memo.id, memo.family, memo.folder, memo.stem)
    case .described(let path, let name): (id, folder) = (name, path)
    case .absent, .vacant, .foreign: return nil
    }
  }

  /// Whether nothing is there any more. A place that cannot be looked at is not gone.
  var isGone: Bool { CaptureLocation(FilePath(text: folder), stem: stem).isGone }
}
