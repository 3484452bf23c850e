/// Differences of two reports other than their figures.
enum ReportDifferences {
  /// A sentence for each kind of difference. None of them prevents the comparison.
  static func notes(now: BenchmarkReport, before: BenchmarkReport) -> [String] {
    var notes: [String] = []
    let machine = machine(now.machine, before.machine)
    if !machine.isEmpty {
      let isOther = !now.machine.isComparable(with: before.machine)
      notes.append(
        (isOther
          ? "the baseline was measured on another machine: times say little ("
          : "the machine was in another state: times may differ because of it (")
          + machine.joined(separator: "; ") + ")")
    }
    let program = program(now, before)
    if !program.isEmpty { notes.append("another program: " + program.joined(separator: "; ")) }
    let settings = settings(now.settings, before.settings)
    if !settings.isEmpty {
      notes.append("measured in another way: " + settings.joined(separator: "; "))
    }
    if now.settings.isCold != before.settings.isCold {
      notes.append("one of the two was measured with a cold cache, the other with a warm one")
    }
    for (name, report) in [("the baseline", before), ("the later report", now)] {
      notes += report.problems.map { "\(name): \($0)" }
    }
    return notes
  }

  private static func machine(
    _ now: MachineDescription, _ before: MachineDescription
  ) -> [String] {
    [
      change("processor", before.processor, now.processor),
      change("cores", "\(before.cores)", "\(now.cores)"),
      change("kernel", before.system, now.system),
      change("governor", before.governor, now.governor),
      change("file system", before.fileSystem, now.fileSystem),
    ].compactMap(\.self)
  }

  private static func program(_ now: BenchmarkReport, _ before: BenchmarkReport) -> [String] {
    var changes = [change("version", before.version, now.version)]
    if let old = before.build, let new = now.build {
      changes += [
        change("commit", old.commit ?? "unknown", new.commit ?? "unknown"),
        change("Swift", old.swift, new.swift),
        change("build", old.configuration, new.configuration),
      ]
      for name in Set(old.libraries.keys).union(new.libraries.keys).sorted() {
        changes.append(change(name, old.libraries[name] ?? "none", new.libraries[name] ?? "none"))
      }
    }
    if let old = before.peers, let new = now.peers {
      for name in Set(old.keys).intersection(new.keys).sorted() {
        changes.append(change(name, old[name], new[name]))
      }
    }
    return changes.compactMap(\.self)
  }

  private static func settings(
    _ now: BenchmarkReport.Settings, _ before: BenchmarkReport.Settings
  ) -> [String] {
    [
      change("pipeline", before.pipeline, now.pipeline),
      change("runs", "\(before.repeats)", "\(now.repeats)"),
      change("runs to warm up", "\(before.warmups)", "\(now.warmups)"),
    ].compactMap(\.self)
  }

  /// A note about a changed value that both reports have.
  private static func change(_ what: String, _ before: String?, _ now: String?) -> String? {
    guard let before, let now, before != now else { return nil }
    return "\(what) \(before) → \(now)"
  }
}
