import type pg from 'pg'
import { webhookLimits } from '../../config/limits.claims.ts'
import { documentLimits } from '../../config/limits.ts'
import { forgetChanges } from '../../db/queries/log/changes.ts'
import {
  forgetEndedWebhooks,
  forgetWebhookDeliveries,
  forgetWebhookEvents,
  forgetWebhooks,
} from '../../db/queries/webhooks/events.ts'
import { day } from '../../ops/time.ts'

/** What goes by age alone: how, after how many days, and how many rows in one transaction. */
const kept = [
  { forget: forgetChanges, days: documentLimits.changeDays, most: 10_000 },
  { forget: forgetWebhookEvents, days: documentLimits.changeDays, most: 10_000 },
  { forget: forgetWebhookDeliveries, days: webhookLimits.deliveryDays, most: 10_000 },
  { forget: forgetWebhooks, days: webhookLimits.deletedDays, most: 10 }, // each with all that was sent there
  { forget: forgetEndedWebhooks, days: webhookLimits.endedDays, most: 10 },
]

interface ForgetContext {
  readonly pool: pg.Pool
  readonly now: () => Date
  /** For tests. */
  readonly perPass?: number
}

/**
 * One bounded pass that deletes rows which nobody needs any more because of their age. What cannot be deleted keeps nothing
 * else. Returns how many rows went.
 */
export async function forgetOldRows({ pool, now, perPass }: ForgetContext): Promise<number> {
  const passes = await Promise.allSettled(
    kept.map(({ forget, days, most }) =>
      forget(pool, { before: new Date(now().getTime() - days * day), limit: perPass ?? most }),
    ),
  )
  const broken = passes.find(({ status }) => status === 'rejected')
  if (broken) throw (broken as PromiseRejectedResult).reason
  return passes.reduce((sum, pass) => sum + (pass as PromiseFulfilledResult<number>).value, 0)
}
