import Core
import Engine
import Glibc
import SystemPackage

/// What the watcher counts, as metrics in the text format of Prometheus, version 0.0.4: every metric with HELP and TYPE,
/// every state and every cause at any time, so that a rule never meets a series that is not there yet. Totals are those of
/// all watchers of the output.
struct NightMetrics {
  var totals = NightTotals()
  var tally = WatchRecord.Tally()
  var forecast = NightForecast(captures: 0, bytes: 0)
  /// Uploads that went before anything of them was done, since the first watcher.
  var disappearedTotal = 0
  /// When STAGING was last looked at, in seconds since 1970.
  var lookTimestampSeconds: Double
  /// When a capture was last done; `nil`: none ever was.
  var doneTimestampSeconds: Double?
  /// How long the oldest queued capture has waited; 0: none waits.
  var queueOldestSeconds = 0.0
  var outputFreeBytes: Int64 = 0
  /// Failures to write something of the watcher's own.
  var writeFailuresTotal: [WriteFailures.Kind: Int] = [:]
  /// Why nothing new is started; `nil`: nothing keeps it.
  var hold: WatchState.PauseReason?
  var isStagingMounted = true
  /// How long the capture that has waited longest for anything is as it is: arriving, incomplete or queued.
  var oldestWaitingSeconds = 0.0
  /// Version of the program.
  var version: String

  var text: String {
    var lines: [String] = []
    func add(
      _ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)]
    ) {
      lines.append("# HELP scanmill_\(name) \(Self.escapedHelp(help))")
      lines.append("# TYPE scanmill_\(name) \(type)")
      lines += samples.map { "scanmill_\(name)\($0.labels) \($0.value)" }
    }
    func one(_ name: String, _ type: String, _ help: String, _ value: String) {
      add(name, type, help, [("", value)])
    }
    add(
      "captures", "gauge", "Captures in the staging folder and the output, by state.",
      CaptureState.ofCaptures.map {
        (Self.label("state", $0.rawValue), "\(totals[$0])")
      })
    one(
      "needs_person", "gauge",
      "Captures that need you; those that are marked need nobody.",
      "\(totals.needsPerson)")
    one(
      "unrecognized", "gauge",
      "Folders with files in which no capture of a known family was found.",
      "\(totals.unrecognized)")
    one(
      "disappeared_total", "counter",
      "Uploads that went from the staging folder before anything of them was done.",
      "\(disappearedTotal)")
    one(
      "look_timestamp_seconds", "gauge", "When the staging folder was last looked at, Unix time.",
      Self.number(lookTimestampSeconds))
    one(
      "done_timestamp_seconds", "gauge",
      "When a capture was last done, Unix time; 0 when none ever was.",
      Self.number(doneTimestampSeconds ?? 0))
    one(
      "queue_oldest_seconds", "gauge",
      "How long the oldest queued capture has waited; 0 when none waits.",
      Self.number(queueOldestSeconds))
    add(
      "failures_total", "counter",
      "Failed attempts at captures by all watchers of the output, by cause.",
      FailureCause.allCases.map {
        (Self.label("cause", $0.rawValue), "\(tally.failures[$0.rawValue] ?? 0)")
      })
    one(
      "frames_total", "counter", "Frames of captures processed by all watchers of the output.",
      "\(tally.frames)")
    one(
      "bytes_written_total", "counter",
      "Bytes that stages have written for all watchers of the output: made again and removed ones count too.",
      "\(tally.bytesWritten)")
    one(
      "cpu_seconds_total", "counter", "Processor time of stages of all watchers of the output.",
      Self.number(tally.cpuSeconds))
    add(
      "write_failures_total", "counter",
      "Failures to write metrics, notes, pages and journals of runs since the start.",
      WriteFailures.Kind.allCases.map {
        (Self.label("what", $0.rawValue), "\(writeFailuresTotal[$0] ?? 0)")
      })
    one(
      "workers_stuck_total", "counter",
      "Workers that were ended because they did not get on.", "\(tally.workersStuck)")
    add(
      "hold", "gauge", "Whether nothing new is started, by reason.",
      WatchState.PauseReason.allCases.map {
        (Self.label("reason", $0.rawValue), hold == $0 ? "1" : "0")
      })
    one(
      "staging_mounted", "gauge", "Whether the staging folder can be looked at.",
      isStagingMounted ? "1" : "0")
    one(
      "oldest_waiting_seconds", "gauge",
      "How long the capture that has waited longest has been arriving, incomplete or queued.",
      Self.finite(oldestWaitingSeconds))
    one(
      "remaining_captures", "gauge", "Captures that are queued or at work.",
      "\(forecast.captures)")
    one(
      "remaining_bytes", "gauge", "Bytes of their files.", "\(forecast.bytes)")
    one(
      "forecast_done_timestamp_seconds", "gauge",
      "When they will be done, Unix time; 0 when none is left or nobody can tell.",
      Self.number(
        forecast.doneAt.flatMap(UTCText.nanoseconds).map { Double($0) / 1e9 } ?? 0))
    one(
      "due_missed", "gauge", "Whether not everything is done, or will be, at the time of --due.",
      forecast.dueMissed ? "1" : "0")
    one(
      "output_free_bytes", "gauge", "Free space where the output is.",
      "\(outputFreeBytes)")
    add(
      "build_info", "gauge", "Version of the program; the value is always 1.",
      [(Self.label("version", version), "1")])
    return lines.joined(separator: "\n") + "\n"
  }

  private static func label(_ name: String, _ value: String) -> String {
    let escaped = value.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
      .replacing("\n", with: #"\n"#)
    return "{\(name)=\"\(escaped)\"}"
  }

  private static func escapedHelp(_ text: String) -> String {
    text.replacing("\\", with: #"\\"#).replacing("\n", with: #"\n"#)
  }

  /// 0 for what is no number: rules compare with it.
  private static func finite(_ value: Double) -> String { number(value.isFinite ? value : 0) }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    guard value.isFinite else { return value < 0 ? "-Inf" : "+Inf" }
    // Whole numbers without `.0` and exponent: easier to read, and exact.
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  /// Throws why a file cannot be written, as far as that shows before it is: there is no such folder, it may
  /// not be written to, or something else than a file has the name.
  static func check(_ file: FilePath) throws(FileError) {
    _ = try place(of: file)
    let above = file.removingLastComponent()
    guard above.withPlatformString({ access($0, W_OK) }) == 0 else {
      throw FileError(Errno(rawValue: errno), path: above, operation: "write")
    }
  }

  private static func place(
    of file: FilePath
  ) throws(FileError) -> (folder: HeldFolder, name: String) {
    guard let name = file.lastComponent?.string, file.lastComponent?.kind == .regular else {
      throw FileError(
        kind: .other, path: file, operation: "write", reason: "is not the name of a file")
    }
    let above = file.removingLastComponent()
    // The user's own word, also where it lies in the output.
    EnclosedPaths.leaveOpen(above)
    let folder: HeldFolder
    do throws(FileError) {
      folder = try HeldFolder.following(above)
    } catch {
      guard error.kind == .notFound else { throw error }
      throw FileError(
        kind: .notFound, path: file, operation: "write",
        reason: "there is no folder \(above.shown.onOneLine)",
        remedy: "make the folder, or choose another file for --metrics")
    }
    if let present = try folder.entry(name), present.kind != .file {
      throw FileError.notOurs(
        file, "is not a file", remedy: "choose another file for --metrics, or remove it")
    }
    return (folder, name)
  }

  /// Replaces the file in one step: a reader sees the old text or the new one. Others may read it (mode
  /// 0644, whatever the umask says): the node exporter runs as a user of its own. Only a file is replaced:
  /// a link, a device or a folder in its place is an error.
  ///
  /// Not flushed to disk: it is out of date after a power cut anyway.
  func write(to file: FilePath) throws(FileError) {
    let (folder, name) = try Self.place(of: file)
    // One name for all times: what a kill leaves is replaced by the next one. It does not end with
    // `.prom`, so that it is not taken for
    let beside = ".\(name).scanmill-new"
    try folder.remove(beside)
    let descriptor = try folder.create(beside)
    do {
      defer { try? descriptor.close() }
      guard fchmod(descriptor.rawValue, 0o644) == 0 else { throw Errno(rawValue: errno) }
      _ = try descriptor.writeAll(Array(text.utf8))
    } catch {
      try? folder.remove(beside)
      throw FileError(error, path: file, operation: "write")
    }
    do throws(FileError) {
      try folder.rename(beside, to: folder, as: name)
    } catch {
      try? folder.remove(beside)
      throw error
    }
  }
}
