import Output
import Pipeline
import Receiving
import Storage
import SystemPackage

/// What `watch` tells in its output folder about captures of STAGING.
struct OutputStates: CaptureStates {
  private let output: FilePath
  private let staging: FilePath

  init(_ output: FilePath, staging: FilePath) {
    self.output = output
    self.staging = staging
  }

  func states(of folders: [String]) -> [String: WatchedState] {
    var waiting: [String: WatchRecord.Waiting] = [:]
    for entry in WatchRecord(ofOutput: output)?.waiting ?? [] {
      if let name = FilePath(text: entry.path).name { waiting[name] = entry }
    }
    var states: [String: WatchedState] = [:]
    for folder in folders {
      let hasReport = report(of: folder) != nil
      if let entry = waiting[folder] {
        states[folder] = WatchedState(
          state: entry.state.rawValue,
          note: entry.failure?.message ?? entry.waitsFor.map { "waits for \($0)" } ?? "",
          hasReport: hasReport)
      } else if hasReport {
        states[folder] = WatchedState(state: "processed", hasReport: true)
      }
    }
    return states
  }

  func report(of folder: String) -> [UInt8]? {
    HeldFolder.contents(
      of: output.appending(name: folder).appending("report.html"), below: output, limit: 16 << 20)
  }
}
