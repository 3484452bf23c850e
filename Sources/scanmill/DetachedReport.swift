import ArgumentParser
import Engine
import Pages
import Core
import SystemPackage
import Watch

/// Writes the report pages at the end of a detached run, and runs the notification command.
struct DetachedReport {
  let output: FilePath
  let run: String
  /// A command for `/bin/sh`; `nil` for none.
  let notify: String?

  func make() throws {
    let reader = try OutputReader(ComparisonArguments.parse([]))
    let looked = try ReadOutput(output.text, reader)
    let (report, _) = try NightReporting.report(looked.view, .run(run))
    let pages = try NightReporting.writePages(report, looked.view, isRedacted: false)
    if let error = pages.error { Console.error("error: \(error)") }
    guard let notify else { return }
    let said = LogFile(
      OutputLayout.run(run, in: output).appending("notify.log"), below: output)
    if let problem = Notification(notify).send(
      try report.json(), page: pages.page, log: said)
    {
      Console.error(problem)
    }
  }
}
