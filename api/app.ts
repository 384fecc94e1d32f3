import type { KeyObject } from 'node:crypto'
import express, { type Express } from 'express'
import type { Logger } from 'pino'
import { streamLimits } from '../config/limits.ts'
import type { Queryable } from '../db/pool.ts'
import type { Standby } from '../db/standby.ts'
import type { ClaimDeps } from './claim/claim.ts'
import { createManifestLook } from './claim/manifest-preview.ts'
import { createNameLook } from './claim/name-look.ts'
import { Dispatch } from './dispatch.ts'
import { docsRoutes } from './docs/routes.ts'
import { type SecurityContact, securityRoutes } from './docs/security-txt.ts'
import { exportRoutes } from './exports/routes.ts'
import { answer } from './http/answer.ts'
import { Cache, cacheBytes, type Subject } from './http/cache.ts'
import type { Content } from './http/content.ts'
import { waitInLane } from './http/database-turns.ts'
import { answerErrors, jsonOrProblem, refuseMethod, refusePath } from './http/error-answer.ts'
import { cors, giveHeaders } from './http/headers.ts'
import { healthRoutes } from './http/health.ts'
import { judgeHost, requireHost } from './http/host.ts'
import { createMetrics, type Watched } from './http/metrics.ts'
import { expressPath, methodsByPath, type Sources, type Total } from './http/route.ts'
import { noteBadHttp } from './http/server.ts'
import { type LimiterOptions, limiter } from './limits/limiter.ts'
import { pageLimiter, pictureLimiter } from './limits/page-limiter.ts'
import { hearRefused, mcpPath, mcpPlaces, mcpRoutes } from './mcp/routes.ts'
import type { Painter } from './pages/card/painter.ts'
import type { ClaimView } from './pages/claim/page.ts'
import { pageRoutes } from './pages/pages.ts'
import type { PictureDoor } from './pages/pictures/gallery.ts'
import { actions, routes, streams } from './routes.ts'
import { ConcurrencyLimit } from './stream/concurrency.ts'
import { serveStream } from './stream/stream.ts'
import { subgraphPath, subgraphRoutes } from './subgraph/routes.ts'
import { answerSigner } from './transparency/answer-signer.ts'
import { transparencyRoutes } from './transparency/routes.ts'

export interface ApiDeps extends Omit<Sources, 'totals' | 'leftOut' | 'primary'> {
  readonly chains: Sources['chains'] & NonNullable<Watched['chains']>
  /** The primary, for writes and change numbers. Default: `database`. */
  readonly primary?: Queryable
  /** Standby that `database` reads from while it is fit; undefined: there is none. */
  readonly standby?: Standby | undefined
  readonly pool: Watched['pool']
  readonly statements?: Watched['statements']
  readonly registry?: Watched['registry']
  /** Port of its own for /metrics; undefined: this app serves /metrics too. */
  readonly metricsPort?: number | undefined
  readonly log: Logger
  readonly trustProxyHops: number
  readonly limiter: LimiterOptions
  /** Folder of the files under /exports; undefined: there are none. */
  readonly exportDir?: string | undefined
  /** Private keys (Ed25519): the first signs answers, the others did before. Absent or empty: none are signed. */
  readonly answerKeys?: readonly KeyObject[] | undefined
  /** Contact for security.txt; undefined: that file is not served. */
  readonly security?: SecurityContact | undefined
  /** Dependencies of claims. Absent: the service takes no claims, as in benchmarks of its reads. */
  readonly claims?: Omit<ClaimDeps, keyof Sources | 'now' | 'accepted' | 'judged'> & {
    /** Brings an agent up to date after its claim; the claim itself is stored already. */
    readonly derive: (fid: number) => Promise<void>
  }
  /** Fetches the pictures of profiles; absent: pages show letters in their place. */
  readonly pictures?: PictureDoor
  /** Paints agents' pictures for link previews; absent: there are none. */
  readonly painter?: Painter
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
  /** Why this process should get no more requests; undefined while it should. */
  readonly notReady: () => string | undefined
}

/** The HTTP service. It starts nothing and listens nowhere. */
export function createApp(deps: ApiDeps): Express {
  const cache = new Cache<Content>({ maxBytes: cacheBytes.answers, now: deps.now })
  const metrics = createMetrics({ ...deps, cache })
  const { primary = deps.database } = deps
  const sources = sourcesOf(deps, primary, metrics)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // strong ones are made with the content
  app.enable('case sensitive routing')
  app.set('trust proxy', deps.trustProxyHops)

  app.locals.hearBadHttp = noteBadHttp({ ...deps, countError: metrics.countError })
  app.use(judgeHost)
  app.use(giveHeaders)
  app.use(metrics.timeRequests)
  app.use(cors(deps.siteUrl))
  const unmetered = new Dispatch()
  const health = healthRoutes(deps, metrics.registry)
  for (const path of ['/healthz', '/readyz', '/metrics']) unmetered.at(path).use(health)
  app.use(unmetered.handle)
  app.use(limiter(deps.limiter))
  app.use(requireHost)
  app.use(waitInLane('api'))
  app.use(mcpPath, hearRefused)
  const dispatch = new Dispatch()
  const mcp = mcpRoutes({ sources, cache, onRead: metrics.countRead, log: deps.log })
  for (const path of mcpPlaces) dispatch.at(path).use(mcp)
  dispatch.at(subgraphPath).use(subgraphRoutes(sources, deps.log))
  const refuse = answerErrors(deps.log, jsonOrProblem(deps.baseUrl))
  const { claims } = deps
  const claimed = claims && serveClaims(claims, { deps, sources, cache, metrics, dispatch, refuse })
  const { sign, keys } = answerSigner({ ...deps, database: primary, cache })
  const answering = { sources, cache, onRead: metrics.countRead, sign, hasKey: keys !== undefined }
  for (const route of routes) {
    const path = expressPath(route)
    dispatch.at(path).get(path, answer(route, answering), refuse)
  }
  serveStreams({ deps, sources, dispatch, refuse })
  for (const [path, methods] of methodsByPath([...routes, ...streams, ...(claims ? actions : [])])) {
    dispatch.at(path).all(path, refuseMethod(methods), refuse)
  }
  app.use(dispatch.handle)
  app.use('/api', refusePath, refuse) // no page lies below: unknown paths end here
  app.use(docsRoutes(deps))
  if (deps.security) app.use(securityRoutes(deps.security, deps))
  if (deps.exportDir !== undefined) app.use(exportRoutes(deps.exportDir))
  app.use(transparencyRoutes({ database: primary, cache, keys }))
  const budget = [pageLimiter({ store: deps.limiter.pageStore, now: deps.now }), waitInLane('pages')]
  const pictureBudget = [pictureLimiter({ now: deps.now }), waitInLane('pages')]
  const { pictures, painter, log, now } = deps
  app.use(pageRoutes({ ...answering, budget, pictureBudget, pictures, painter, claims: claimed, log, now }))
  app.use(refusePath)
  app.use(refuse)
  return app
}

function sourcesOf(deps: ApiDeps, primary: Queryable, metrics: ReturnType<typeof createMetrics>): Sources {
  return {
    ...deps,
    primary,
    totals: new Cache<Total>({ maxBytes: cacheBytes.totals, now: deps.now }),
    leftOut(place, fid, err) {
      metrics.countLeftOut(place)
      deps.log.error({ err, fid, place }, 'an agent that cannot be shown is left out')
    },
  }
}

/** What the routes of an app share. */
interface Serving {
  readonly deps: ApiDeps
  readonly sources: Sources
  readonly dispatch: Dispatch
  readonly refuse: ReturnType<typeof answerErrors>
}

/** Routes of claims; returns what the claim page needs. */
function serveClaims(
  claims: NonNullable<ApiDeps['claims']>,
  {
    deps,
    sources,
    cache,
    metrics,
    dispatch,
    refuse,
  }: Serving & { readonly cache: Cache<Content>; readonly metrics: ReturnType<typeof createMetrics> },
): ClaimView {
  const { primary } = sources
  const accepted = async (fid: number, addresses: readonly string[]) => {
    await claims.derive(fid).catch((err) => deps.log.warn({ err, fid }, 'a claimed agent follows with the join'))
    const isTouched = (subject: Subject) => subject.fid === fid || addresses.includes(String(subject.address))
    await deps.standby?.noteWritten()
    cache.evict(isTouched)
    sources.totals.evict(isTouched)
  }
  const needs = { ...sources, ...claims, database: primary, now: deps.now, accepted, judged: metrics.countClaim }
  for (const action of actions) {
    const path = expressPath(action)
    dispatch.at(path)[action.method](path, ...action.serve(needs), refuse)
  }
  const { windowSeconds } = claims
  return { windowSeconds, lookAtManifest: createManifestLook(needs), lookForName: createNameLook(needs) }
}

function serveStreams({ deps, sources, dispatch, refuse }: Serving): void {
  const concurrency = new ConcurrencyLimit({
    ...streamLimits,
    windowSeconds: streamLimits.lastSeconds.most,
    what: 'streams',
  })
  const isStopping = () => deps.notReady() !== undefined
  const onFailure = (err: unknown) => deps.log.warn({ err }, 'streams wait: the log cannot be read')
  for (const stream of streams) {
    const path = expressPath(stream)
    dispatch.at(path).get(path, serveStream(stream, { sources, concurrency, isStopping, onFailure }), refuse)
  }
}
