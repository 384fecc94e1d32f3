import type pg from 'pg'
import { sources } from '../config/sources.ts'
import { appendWebhookEvents, wakeWebhooks } from '../db/queries/webhooks/events.ts'
import type { DeriveContext } from './derivation.ts'

/** What a key of an endpoint begins with that was registered or moved. */
const endpoint = 'endpoint:'

/** Appends what webhooks are sent, and has endpoints sent what they want of it. */
export async function appendEvents(
  db: pg.PoolClient,
  keys: readonly string[],
  { now, settlementOverloads }: DeriveContext,
): Promise<undefined> {
  const ids = keys.filter((key) => key.startsWith(endpoint)).map((key) => key.slice(endpoint.length))
  const events = await appendWebhookEvents(
    db,
    keys.filter((key) => !key.startsWith(endpoint)),
    settlementOverloads === 'all',
  )
  if (events.length + ids.length > 0)
    await wakeWebhooks(db, { events, ids }, { source: sources.webhooks.name, now: now() })
}
