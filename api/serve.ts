import { followedHub, knownOfNetwork } from '../db/queries/sources/hub-standing.ts'
import { inSafeTransaction } from '../db/safe-transaction.ts'
import { createApp } from './app.ts'
import { createMemoryCounter, createRedisCounter } from './claim/attempts.ts'
import { askAgain, deriveClaimed } from './claim/derive-claimed.ts'
import { claimsWithoutWitness, createWitnesses } from './claim/witness-clients.ts'
import type { Config } from './config.ts'
import { readsThrough } from './http/database.ts'
import { runHttp } from './http-process.ts'
import { pageLimits } from './limits/page-limiter.ts'
import { FusedRedisStore } from './limits/redis-store.ts'
import { createPainter } from './pages/card/painter.ts'
import { createPictureDoor } from './pages/pictures/gallery.ts'

/** Serves the directory as these settings say until the process is told to stop. */
export async function serveApi(config: Config): Promise<void> {
  await runHttp('api', config, (parts) => {
    const { pool, database, standby, log, redis } = parts
    for (const missing of claimsWithoutWitness(config.chains)) log.warn(missing)
    const witnesses = createWitnesses({
      ...config,
      followedHub: () => followedHub(database),
      known: () => knownOfNetwork(database),
      now: Date.now,
    })
    const pictures = createPictureDoor(config, config.egressAllow)
    const painter = createPainter(Date.now)
    const pageStore = redis && new FusedRedisStore(redis.send, pageLimits, Date.now, 'pages:')
    const reads = standby ? readsThrough(standby, database) : database
    const app = createApp({
      ...config,
      ...parts,
      primary: database,
      database: reads,
      pool: database,
      statements: reads,
      limiter: { ...parts.limiter, pageStore },
      now: Date.now,
      pictures,
      painter,
      claims: {
        ...config.claims,
        ...witnesses,
        egressAllow: config.egressAllow,
        webhookSecret: config.webhookSecret,
        attempts: redis ? createRedisCounter(redis.send) : createMemoryCounter(Date.now),
        transaction: (work) => inSafeTransaction(pool, work),
        askAgain: (fid) => askAgain({ pool, fid, now: () => new Date() }),
        derive: (fid) => deriveClaimed({ ...config, pool, fid, now: () => new Date() }),
      },
    })
    const release = async () => {
      pictures.close()
      await Promise.all([painter.close(), witnesses.close()])
    }
    return { app, release }
  })
}
