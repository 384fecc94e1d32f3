import type { ClaimDeps } from './claim/claim.ts'
import type { Action, Route } from './http/route.ts'
import { addresses, agent } from './routes/agent.ts'
import { agents } from './routes/agents.ts'
import { agentsFeed } from './routes/agents-feed.ts'
import { bulk } from './routes/bulk.ts'
import { byAddress } from './routes/by-address.ts'
import { changes } from './routes/changes.ts'
import { claim } from './routes/claims/claim.ts'
import { relist, unlist, withdraw } from './routes/claims/claim-actions.ts'
import { challenge } from './routes/claims/claim-challenge.ts'
import { proof } from './routes/claims/proof.ts'
import { proofHistory } from './routes/claims/proof-history.ts'
import { refresh } from './routes/claims/refresh.ts'
import { apiFeed } from './routes/developers/api-feed.ts'
import { badge, badgeEndpoint } from './routes/developers/badge.ts'
import { doctor, doctorCode, doctorCodes } from './routes/developers/doctor.ts'
import { discovery } from './routes/discovery.ts'
import { error, errors } from './routes/errors.ts'
import { explainByAddress } from './routes/explain-address.ts'
import { explainAgent } from './routes/explain-agent.ts'
import { allRegistrations } from './routes/find/all-registrations.ts'
import { allSettlements } from './routes/find/all-settlements.ts'
import { facets } from './routes/find/facets.ts'
import { feedback } from './routes/find/feedback.ts'
import { prices } from './routes/find/prices.ts'
import { search } from './routes/find/search.ts'
import { settlementStream } from './routes/find/settlement-stream.ts'
import { facilitators } from './routes/income/facilitators.ts'
import { allIncomeStats, income, incomeTimeseries } from './routes/income/income.ts'
import { incomeCsv } from './routes/income/income-csv.ts'
import { incomeRows } from './routes/income/payments.ts'
import { leaderboard } from './routes/leaderboard.ts'
import { coverage } from './routes/mirror/coverage.ts'
import { eventsArchive, eventsFeed } from './routes/mirror/events-feed.ts'
import { log } from './routes/mirror/log.ts'
import { logStream } from './routes/mirror/log-stream.ts'
import { feed } from './routes/newest-feed.ts'
import { payee } from './routes/payee.ts'
import { registrations } from './routes/registrations.ts'
import { settlements } from './routes/settlements.ts'
import { stats } from './routes/stats.ts'
import { control, owners, portfolio, state } from './routes/time/as-of.ts'
import { growth } from './routes/time/growth.ts'
import { agentTimeseries, timeseries } from './routes/time/timeseries.ts'
import { uptime } from './routes/time/uptime.ts'
import { webhookActions } from './routes/webhooks/webhooks.ts'
import type { Stream } from './stream/stream.ts'

const specified = [agent, settlements, discovery, byAddress, leaderboard, stats, feed, bulk]

/** Every GET that may be cached, in the order of openapi.json: first those of the specification, in its order. */
export const routes: readonly Route[] = [
  ...specified,
  changes,
  log,
  coverage,
  explainAgent,
  explainByAddress,
  registrations,
  allRegistrations,
  feedback,
  addresses,
  proof,
  proofHistory,
  agents,
  allSettlements,
  agentTimeseries,
  timeseries,
  uptime,
  prices,
  payee,
  doctor,
  doctorCodes,
  doctorCode,
  growth,
  state,
  control,
  owners,
  portfolio,
  search,
  facilitators,
  facets,
  income,
  incomeTimeseries,
  incomeRows,
  incomeCsv,
  allIncomeStats,
  errors,
  error,
  agentsFeed,
  eventsFeed,
  eventsArchive,
  apiFeed,
  badge,
  badgeEndpoint,
]

/** Requests to claim an agent, withdraw a claim, unlist and relist, with what helps, and those about webhooks. */
export const actions: readonly Action<ClaimDeps>[] = [
  claim,
  challenge,
  withdraw,
  unlist,
  relist,
  refresh,
  ...webhookActions,
]

/** Requests answered with server-sent events, without end. */
export const streams: readonly Stream[] = [logStream, settlementStream]
