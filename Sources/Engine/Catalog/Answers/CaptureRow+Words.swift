import Captures
import Core
import SystemPackage

extension CaptureRow {
  /// What is to be done about it, in words; `nil`: nothing.
  var remedy: String? {
    var remedy = Remedy(state: state.rawValue)
    remedy.cause = standing.failure?.cause
    remedy.family = family
    remedy.message = standing.failure?.message
    remedy.attempts = standing.attempts
    remedy.missing = standing.missing
    remedy.folder = path
    remedy.isOneFile = isOneFile
    remedy.isGone = standing.gone
    remedy.retryAt = standing.retryAt.map {
      NightClock.words($0, now: FileStamp.nowNanoseconds())
    }
    remedy.waitsFor = standing.waitsFor
    remedy.isWatched = isWatched
    remedy.losses = shortfalls.map(\.lossWords)
    return remedy.sentence
  }

  /// Whether its place is a file. Cost: a look at it where a sentence depends on it.
  private var isOneFile: Bool {
    guard state.needsPerson || !standing.missing.isEmpty, let place = entry?.folder ?? knownFolder
    else { return false }
    let path = FilePath(text: place)
    return FileSystem.exists(path) && !FileSystem.isFolder(path)
      && entry?.stem == nil && knownStem == nil
  }

  /// What to type to try again; `nil`: there is nothing to try.
  func command(output root: FilePath) -> String? {
    guard state == .failed || state == .quarantined, !standing.gone else { return nil }
    guard let folder = entry?.folder ?? knownFolder else { return nil }
    var words = ["scanmill", "run", folder, "--output", root.text]
    if let pipeline, pipeline != "default" { words += ["--pipeline", pipeline] }
    for setting in entry?.settings ?? [] { words += ["--set", setting] }
    return ShellText.command(words + ["--id", id])
  }
}
