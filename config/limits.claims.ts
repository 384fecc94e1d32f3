// Limits of what accounts ask for themselves: claims, and webhooks.

/** Seconds that what somebody signed is taken for, before and after the time in it. */
const signedTimeSeconds = 900

export const claimLimits = {
  bodyBytes: 16 * 1024,
  /** Attempts to claim that pass the cheap checks, per client; fetches from a host: per client, and of all those without the FID. */
  attempts: { client: 10, 'client and host': 6, host: 60 },
  /** Length of the window in which `attempts` are counted; it begins with the first attempt. */
  attemptSeconds: 600,
  /** Delay until the proof of an accepted claim is published: by then its signature has expired everywhere. */
  proofWaitSeconds: signedTimeSeconds,
  /** Re-reads of an account from the social network that anybody may request: per FID, and per client. */
  refreshes: { fid: { attempts: 1, seconds: 60 }, client: { attempts: 10, seconds: 600 } },
  /** User names that pages ask the network for: for a client, and for all together. */
  nameLooks: { client: { attempts: 20, seconds: 600 }, all: { attempts: 600, seconds: 600 } },
  /** Claims accepted per FID and UTC day; of a host that nothing links to the account, its own. */
  acceptedPerDay: 20,
  /**
   * How far the signed time may differ from the server's, before or after. CLAIM_WINDOW_SECONDS may say less, not more:
   * proofs are public, and hold, by this.
   */
  signedTimeSeconds,
  nonceCharacters: { least: 8, most: 64 },
  /** Bytes of a signature, as many as the social network accepts; those of passkey wallets have about 1 KiB. */
  signatureBytes: 2_048,
  manifestAddresses: 25,
  manifestBytes: 64 * 1024,
  /** Timeout of fetching a manifest while its claimant waits. */
  manifestSeconds: 4,
  /** Characters of a host's name. */
  hostCharacters: 260,
  /** Characters of each part of a signature over a domain. */
  associationCharacters: 4_096,
} as const

/** Limits of webhooks. */
export const webhookLimits = {
  /** Endpoints of a FID that are sent events, and FIDs that one of them may name. */
  ofFid: 5,
  fids: 100,
  /** Chains that an endpoint may name, and dollars below which it may want no settlement. */
  chains: 100,
  minAmount: 1_000_000_000,
  /** Time within which an endpoint has to answer an event, and a challenge or a ping. */
  answerSeconds: 15,
  challengeSeconds: 10,
  /** Bytes that are read of the answer to a challenge; of other answers none are. */
  answerBytes: 1_024,
  /** Attempts in the list of them; how many of an endpoint are kept, as its host says how many there are, and for how long. */
  deliveries: 100,
  deliveriesKept: 1_000,
  deliveryDays: 30,
  /** Days for which an endpoint is kept that its account deleted, so that no proof serves twice. */
  deletedDays: 1,
  /** Days after which an endpoint goes to which nothing is sent any more. */
  endedDays: 30,
  /** Challenges that a FID may have sent. */
  challenges: { attempts: 20, seconds: 600 },
  /** Pings and replays of an endpoint. */
  uses: { attempts: 6, seconds: 60 },
} as const
