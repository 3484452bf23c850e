import Captures
import Core

extension CaptureRow: CacheRecord {
  package static var blank: CaptureRow { CaptureRow(id: "") }

  /// The part of a row that the catalog holds.
  package mutating func code(_ coder: inout CacheCoder) throws {
    try codeHead(&coder)
    try coder(&pipeline)
    try coder(&page)
    try coder(&path)
    try coder(&formerNames)
    try coder(&user)
    try coder(&recordedAt)
    try coder(&inputGone)
    try coder(&gone)
    try coder(&frames)
    try coder(&settings)
    try coder(&notes)
    try coder(&missing)
    try coder(&stages)
    try coder(&timings)
    try coder(&warnings)
    try coder.json(&shortfalls, empty: [])
    try coder(&failures)
    try coder.json(&triage, empty: nil)
    try coder(&received)
    try coder.json(&quality, empty: nil)
  }

  /// What never changes of a row, and what stands in the document of the capture alone. It comes first, so that it can
  /// be read without the rest.
  mutating func codeHead(_ coder: inout CacheCoder) throws {
    try coder(&id)
    try coder(&name)
    try coder(&family)
    try coder(&folder)
    try coder(&stem)
    try coder(&deviceInfo.id)
    try coder(&deviceInfo.name)
    try coder(&deviceInfo.model)
    try coder(&sceneInfo.label)
    try coder(&sceneInfo.type)
    try coder(&sceneInfo.description)
  }
}

extension StageStatus: CacheRecord {
  package static var blank: StageStatus { StageStatus(stage: "", uses: "", state: .done) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stage)
    try coder(&uses)
    try coder.raw(&state)
    try coder.raw(&reason)
    try coder(&details)
    try coder(&askedByName)
    try coder(&isInner)
  }
}

extension CaptureRow.Timing: CacheRecord {
  static var blank: Self {
    Self(stage: "", seconds: 0, cpuSeconds: 0, frames: 0, bytes: 0, outputs: 0, finished: "")
  }

  mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stage)
    try coder(&seconds)
    try coder(&cpuSeconds)
    try coder(&frames)
    try coder(&bytes)
    try coder(&outputs)
    try coder(&finished)
  }
}

extension CaptureRow.Received: CacheRecord {
  static var blank: Self { Self(files: 0, bytes: 0) }

  mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&files)
    try coder(&bytes)
    try coder(&arrivedNanoseconds)
    try coder(&manifest)
    try coder(&altered)
  }
}

extension UploadCounts: CacheRecord {
  package static var blank: UploadCounts {
    UploadCounts(files: 0, verified: 0, unchanged: 0, isComplete: false)
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&files)
    try coder(&verified)
    try coder(&unchanged)
    try coder(&isComplete)
    try coder(&twinOf)
  }
}

extension CaptureWarning: CacheRecord {
  package static var blank: CaptureWarning { CaptureWarning(.missingFile, "", "") }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder.raw(&code)
    try coder(&subject)
    try coder(&message)
    try coder(&count)
    try coder.raw(&severity)
  }
}

extension Failure: CacheRecord {
  package static var blank: Failure { Failure() }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stage)
    try coder(&message)
    try coder.raw(&cause)
    try coder(&time)
    try coder.json(&detail, empty: nil)
  }
}

extension RunEntry: CacheRecord {
  package static var blank: RunEntry { RunEntry(id: "", started: "") }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&id)
    try coder(&started)
    try coder(&finished)
    try coder(&lastEvent)
    try coder(&pipeline)
    try coder(&pipelinePath)
    try coder(&host)
    try coder(&user)
    try coder.json(&program, empty: nil)
    try coder.json(&unrecognized, empty: [])
    try coder(&attempts)
  }
}

extension RunEntry.Attempt: CacheRecord {
  package static var blank: Self { Self(capture: "") }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&capture)
    try coder(&path)
    try coder(&family)
    try coder.raw(&outcome)
    try coder(&started)
    try coder(&finished)
    try coder(&frames)
    try coder(&bytes)
    try coder(&cpuSeconds)
    try coder(&stageSeconds)
    try coder(&missing)
    try coder(&warnings)
    try coder(&altered)
    try coder.json(&shortfalls, empty: nil)
    try coder(&why)
    try coder(&failures)
    try coder.json(&cluster, empty: nil)
  }
}
