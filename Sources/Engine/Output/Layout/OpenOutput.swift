import Core
import Synchronization
import SystemPackage

/// The folder of a capture in the output, held open for one look at it: whoever reads in it reads in the folder that
/// was opened, its path is resolved once, and a small file is read once for all who ask for it.
///
/// Not kept longer than a look takes: what changes after something was read is not noticed. Cost: at most five
/// descriptors while it is held.
public final class OpenOutput: Sendable {
  let layout: OutputLayout
  /// `nil` where there is none that can be read. A link in its place is not followed.
  package let folder: HeldFolder?
  private let state = Mutex(State())

  private struct State {
    /// By path in the folder of the capture; `nil` for what is none that can be read.
    var folders: [String: HeldFolder?] = [:]
    /// By path in the folder of the capture; `nil` for what is no file, or too large.
    var files: [String: [UInt8]?] = [:]
  }

  init(_ layout: OutputLayout) {
    self.layout = layout
    folder = HeldFolder(layout.folder, followsLast: false)
  }

  /// The folder of notes; `nil` where there is none that can be read.
  package var notes: HeldFolder? { inner(OutputNames.notes) { self.folder?.below($0) } }
  /// Records of intermediates that were removed after use.
  var removed: HeldFolder? { inner(OutputNames.removed) { self.notes?.below($0) } }
  /// Records of stages that had nothing left to do.
  package var empty: HeldFolder? { inner(OutputNames.empty) { self.notes?.below($0) } }
  /// Failed attempts.
  package var failed: HeldFolder? { inner(OutputNames.failed) { self.folder?.below($0) } }

  private func inner(_ name: String, _ open: (String) -> HeldFolder?) -> HeldFolder? {
    if let known = state.withLock({ $0.folders[name] }) { return known }
    let opened = open(name)
    state.withLock { $0.folders[name] = .some(opened) }
    return opened
  }

  /// A file in the folder of the capture, of at most `InputLimits.bytesOfRecord`.
  func contents(of name: String) -> [UInt8]? { file(name, name, in: folder) }

  /// A file in the folder of notes, within the same limit.
  package func note(_ name: String) -> [UInt8]? {
    file("\(OutputNames.notes)/\(name)", name, in: notes)
  }

  private func file(_ path: String, _ name: String, in folder: HeldFolder?) -> [UInt8]? {
    if let known = state.withLock({ $0.files[path] }) { return known }
    let bytes = folder?.stampedContents(of: name)?.bytes
    state.withLock { $0.files[path] = .some(bytes) }
    return bytes
  }
}
