import Captures

// Every key of the contract is there, `null` where nothing is known: scripts need not ask whether it is.

extension NightCapture {
  private enum Key: CodingKey {
    case id, family, state, outcome, warnings, failures, seconds, frames, missing, page, path,
      scene,
      device, user, recordedAt, attempts, gone, retryAt, lastRun, since, waitsFor, neededBytes,
      remedy, command,
      notApplicable, cluster, shortfalls, upload, mark, custody, twinOf, quality
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(id, forKey: .id)
    try object.encode(family, forKey: .family)
    try object.encode(state, forKey: .state)
    try object.encode(outcome, forKey: .outcome)
    try object.encode(warnings, forKey: .warnings)
    try object.encodeIfPresent(shortfalls, forKey: .shortfalls)
    try object.encode(failures, forKey: .failures)
    try object.encodeIfPresent(notApplicable, forKey: .notApplicable)
    try object.encode(seconds, forKey: .seconds)
    try object.encode(frames, forKey: .frames)
    try object.encode(missing, forKey: .missing)
    try object.encode(page, forKey: .page)
    try object.encode(path, forKey: .path)
    try object.encode(scene, forKey: .scene)
    try object.encode(device, forKey: .device)
    try object.encode(user, forKey: .user)
    try object.encode(recordedAt, forKey: .recordedAt)
    try object.encode(attempts, forKey: .attempts)
    try object.encode(gone, forKey: .gone)
    try object.encode(retryAt, forKey: .retryAt)
    try object.encode(lastRun, forKey: .lastRun)
    try object.encode(since, forKey: .since)
    try object.encode(waitsFor, forKey: .waitsFor)
    try object.encodeIfPresent(neededBytes, forKey: .neededBytes)
    try object.encode(remedy, forKey: .remedy)
    try object.encode(command, forKey: .command)
    try object.encodeIfPresent(cluster, forKey: .cluster)
    try object.encodeIfPresent(upload, forKey: .upload)
    try object.encodeIfPresent(mark, forKey: .mark)
    try object.encodeIfPresent(custody, forKey: .custody)
    try object.encodeIfPresent(twinOf, forKey: .twinOf)
    try object.encodeIfPresent(quality, forKey: .quality)
  }
}

extension NightReport.FreeSpace {
  private enum Key: CodingKey {
    case bytes, inodes, totalBytes
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(bytes, forKey: .bytes)
    try object.encode(inodes, forKey: .inodes)
    try object.encode(totalBytes, forKey: .totalBytes)
  }
}

extension NightReport.Watch {
  private enum Key: CodingKey {
    case alive, staging, lastLook, trouble, holds, holdsFor, killed, ended, renewsPageSeconds
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(alive, forKey: .alive)
    try object.encode(staging, forKey: .staging)
    try object.encode(lastLook, forKey: .lastLook)
    try object.encode(trouble, forKey: .trouble)
    try object.encode(holds, forKey: .holds)
    try object.encode(holdsFor, forKey: .holdsFor)
    try object.encode(killed, forKey: .killed)
    try object.encode(ended, forKey: .ended)
    try object.encode(renewsPageSeconds, forKey: .renewsPageSeconds)
  }
}
