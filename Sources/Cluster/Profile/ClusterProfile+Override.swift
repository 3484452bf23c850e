import SystemPackage

extension ClusterProfile {
  /// This profile with what `other` says in place of its own, key by key; lists are replaced as a whole
  /// where `other` has one.
  ///
  /// A limit of growth below what is now asked for at first is lifted to it: who asks for more on the
  /// command line means it.
  public func overridden(by other: ClusterProfile) -> ClusterProfile {
    var result = self
    result.executor = other.executor ?? executor
    result.partition = other.partition ?? partition
    result.account = other.account ?? account
    result.qos = other.qos ?? qos
    result.cpus = other.cpus ?? cpus
    result.memoryBytes = other.memoryBytes ?? memoryBytes
    result.maxMemoryBytes = other.maxMemoryBytes ?? maxMemoryBytes
    result.timeSeconds = other.timeSeconds ?? timeSeconds
    result.maxTimeSeconds = other.maxTimeSeconds ?? maxTimeSeconds
    result.group = other.group ?? group
    result.maxRunning = other.maxRunning ?? maxRunning
    result.maxQueued = other.maxQueued ?? maxQueued
    result.pollSeconds = other.pollSeconds ?? pollSeconds
    result.patienceSeconds = other.patienceSeconds ?? patienceSeconds
    result.scratch = other.scratch ?? scratch
    result.program = other.program ?? program
    if !other.setup.isEmpty { result.setup = other.setup }
    if !other.extra.isEmpty { result.extra = other.extra }
    if let asked = result.memoryBytes, let most = result.maxMemoryBytes, most < asked {
      result.maxMemoryBytes = asked
    }
    if let asked = result.timeSeconds, let most = result.maxTimeSeconds, most < asked {
      result.maxTimeSeconds = asked
    }
    return result
  }
}
