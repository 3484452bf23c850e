import Testing

@testable import Cluster

@Suite("What a site says of itself")
struct SiteTextTests {
  @Test("The configuration is read from among many other lines")
  func config() throws {
    let text = """
      Configuration data as of 2026-11-22T14:36:00
      AccountingStorageEnforce = none
      AccountingStorageType   = accounting_storage/slurmdbd
      KillWait                = 5 sec
      MaxArraySize            = 10001
      SLURM_VERSION           = 22.05.8
      """
    let config = try #require(SiteText.config(text))
    #expect(config.site == Site(maxArraySize: 10001, killWaitSeconds: 5, hasAccounting: true))
  }

  @Test(
    "Records are kept where somebody keeps them",
    arguments: [
      ("accounting_storage/none", false), ("accounting_storage/slurmdbd", true),
      ("accounting_storage/filetxt", true), ("(null)", false), ("", false),
    ])
  func accounting(value: String, isKept: Bool) {
    #expect(
      SiteText.config("AccountingStorageType   = \(value)\nKillWait = 1 sec")?.hasAccounting
        == isKept)
  }

  @Test("What is not said is as where nobody has set it; of nothing nothing is made")
  func defaults() {
    #expect(SiteText.config("KillWait = 30 sec")?.site == Site())
    #expect(SiteText.config("") == nil)
    #expect(SiteText.config("hello = world\nMaxArraySize\n") == nil)
    #expect(SiteText.config("MaxArraySize = many") == nil)
    #expect(SiteText.config("MaxArraySize = 99999999999999999999999") == nil)
    #expect(SiteText.config("MaxArraySize = 0")?.maxArraySize == 0)
  }

  @Test(
    "One controller that answers is enough, and the text says whether it does",
    arguments: [
      ("Slurmctld(primary) at localhost is UP\n", Int32(0), true),
      (
        "Slurmctld(primary) at localhost is DOWN\n***\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n",
        1, false
      ),
      ("Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n", 1, true),
      ("Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is DOWN\n", 0, false),
      ("Slurmctld(primary/backup) at a/b are DOWN/UP\n", 0, true),
      ("", 0, true), ("", 1, false), ("what is UP\n", 1, false),
    ])
  func ping(output: String, code: Int32, isUp: Bool) {
    let answer = SlurmAnswer(program: "scontrol", end: .exited(code), output: output)
    #expect(SiteText.isUp(answer) == isUp)
    var late = answer
    late.end = .timedOut(seconds: 10)
    #expect(!SiteText.isUp(late))
  }
}
