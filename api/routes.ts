import type { ClaimDeps } from './claim/claim.ts'
import type { Action, Route } from './http/route.ts'
import { byAddress, explainByAddress } from './routes/addresses/by-address.ts'
import { addresses, agent } from './routes/agents/agent.ts'
import { agents } from './routes/agents/agents.ts'
import { control, owners, portfolio, state } from './routes/agents/as-of.ts'
import { badge, badgeEndpoint } from './routes/agents/badge.ts'
import { bulk } from './routes/agents/bulk.ts'
import { explainAgent } from './routes/agents/explain-agent.ts'
import { claim } from './routes/claims/claim.ts'
import { relist, unlist, withdraw } from './routes/claims/claim-actions.ts'
import { challenge } from './routes/claims/claim-challenge.ts'
import { proof } from './routes/claims/proof.ts'
import { proofHistory } from './routes/claims/proof-history.ts'
import { refresh } from './routes/claims/refresh.ts'
import { agentsFeed, feed } from './routes/directory/agents-feed.ts'
import { discovery } from './routes/directory/discovery.ts'
import { facets } from './routes/directory/facets.ts'
import { search } from './routes/directory/search.ts'
import { growth, stats } from './routes/directory/stats.ts'
import { doctor, doctorCode, doctorCodes } from './routes/documents/doctor.ts'
import { payee } from './routes/documents/payee.ts'
import { prices } from './routes/documents/prices.ts'
import { uptime } from './routes/documents/uptime.ts'
import { feedback } from './routes/feedback/feedback.ts'
import { facilitators } from './routes/income/facilitators.ts'
import { allIncomeStats, income, incomeTimeseries } from './routes/income/income.ts'
import { incomeCsv } from './routes/income/income-csv.ts'
import { incomeRows } from './routes/income/payments.ts'
import { leaderboard } from './routes/leaderboard/leaderboard.ts'
import { changes } from './routes/log/changes.ts'
import { coverage } from './routes/log/coverage.ts'
import { eventsArchive, eventsFeed } from './routes/log/events-feed.ts'
import { log } from './routes/log/log.ts'
import { logStream } from './routes/log/log-stream.ts'
import { apiFeed } from './routes/reference/api-feed.ts'
import { error, errors } from './routes/reference/errors.ts'
import { allRegistrations } from './routes/registrations/all-registrations.ts'
import { registrations } from './routes/registrations/registrations.ts'
import { allSettlements } from './routes/settlements/all-settlements.ts'
import { settlementStream } from './routes/settlements/settlement-stream.ts'
import { settlements } from './routes/settlements/settlements.ts'
import { agentTimeseries, timeseries } from './routes/settlements/timeseries.ts'
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
