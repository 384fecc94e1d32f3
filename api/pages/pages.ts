import { type ErrorRequestHandler, type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import { type AnswerDeps, answer, readThrough } from '../http/answer.ts'
import { answerErrors, refuseMethod, refusePath } from '../http/error-answer.ts'
import { expressPath } from '../http/route.ts'
import { agentFeed } from './agent/atom-feed.ts'
import { agentPage } from './agent/page.ts'
import { assets } from './assets.ts'
import type { Painter } from './card/painter.ts'
import { cardRoutes } from './card/routes.ts'
import { type ClaimView, claimPage } from './claim/page.ts'
import { giveAskingPolicy, giveClaimPolicy, givePagePolicy } from './content-security-policy.ts'
import { directoryPage } from './directory/page.ts'
import { leaderboardPage } from './leaderboard.ts'
import { addressPage } from './lookup/address.ts'
import { explainPage, explainUnlisted } from './lookup/explain.ts'
import { facilitatorPage } from './lookup/facilitator.ts'
import { ownerPage } from './lookup/owner.ts'
import { chainlessTransactionPage, transactionPage } from './lookup/transaction.ts'
import { networkPage } from './network/page.ts'
import type { World } from './parts/page.ts'
import { createGallery, type PictureDoor } from './pictures/gallery.ts'
import { pictureRoutes } from './pictures/routes.ts'
import { answerProblem } from './problem.ts'
import { sitemaps } from './sitemap.ts'
import { statusPage } from './status.ts'

/** The cache is shared with the API: a page and the API show the same answer. */
interface PagesDeps extends AnswerDeps {
  /** Handlers that admit or refuse a request for a page before any work for it. */
  readonly budget: readonly RequestHandler[]
  /** Handlers that admit or refuse a request for a profile picture before any work for it. */
  readonly pictureBudget: readonly RequestHandler[]
  /** Fetches profile pictures from their hosts; undefined: every agent is shown by its initial. */
  readonly pictures: PictureDoor | undefined
  readonly painter: Painter | undefined
  /** Undefined: the service takes no claims. */
  readonly claims: ClaimView | undefined
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The pages for people. */
export function pageRoutes(deps: PagesDeps): Router {
  const { sources, cache, budget, pictureBudget, pictures, painter, claims, log, now } = deps
  const world: World = {
    ...sources,
    now,
    ask: async (route, input) => (await readThrough(route, input, sources, cache)).value?.text.toString(),
  }
  const router = Router({ caseSensitive: true, strict: true })
  router.use(assets())
  const pages = [
    directoryPage(world),
    agentPage(world),
    leaderboardPage(world),
    statusPage(world),
    addressPage(world),
    transactionPage(world),
    chainlessTransactionPage(world),
    facilitatorPage(world),
    ownerPage(world),
    explainPage(world),
  ]
  if (claims) router.get('/explain', ...budget, givePagePolicy, explainUnlisted(world, claims.lookForName))
  for (const page of [...pages, agentFeed(world), ...sitemaps]) {
    const path = expressPath(page)
    router.get(path, ...budget, givePagePolicy, answer(page, deps))
    router.all(path, refuseMethod(['GET', 'HEAD']))
    if (path !== '/') router.get(`${path}/`, dropSlash)
  }
  const network = networkPage(world)
  router.get('/network/', dropSlash)
  router.get('/network', ...budget, giveAskingPolicy, answer(network, deps))
  router.all('/network', refuseMethod(['GET', 'HEAD']))
  router.get('/claim/', dropSlash)
  router.get('/claim', ...budget, giveClaimPolicy, claimPage(world, claims))
  router.all('/claim', refuseMethod(['GET', 'HEAD']))
  router.use(pictureRoutes(sources, pictures && createGallery(pictures, now), pictureBudget))
  if (painter) router.use(cardRoutes(world, painter, budget))
  router.get('/favicon.ico', toIcon)
  router.use(missPage)
  router.use(forReaders(answerErrors(log, answerProblem(sources))))
  return router
}

/** Redirect from the default paths where browsers look for an icon. */
const toIcon: RequestHandler = (_req, res) => {
  res.set('Cache-Control', 'public, max-age=86400').redirect(301, '/assets/icon.svg')
}

/** Redirects a path with a trailing slash to the one without: a page has one address. */
const dropSlash: RequestHandler = (req, res) => {
  const query = req.originalUrl.slice(req.path.length)
  res.set('Cache-Control', 'public, max-age=300').redirect(301, req.path.slice(0, -1) + query)
}

/** Matches paths of the API and of other interfaces for programs. */
const forPrograms = /^\/(api|data|graphql|mcp|openapi\.json)(\/|$)/

/** Answers an unknown path with a page when the client accepts HTML; else the API's 404 follows. */
const missPage: RequestHandler = (req, res, next) => {
  if (forPrograms.test(req.path) || !req.get('Accept')?.includes('text/html')) return next()
  givePagePolicy(req, res, () => refusePath(req, res, next))
}

/** Answers errors of GET and HEAD with a page; any other method is a program's and gets the API's error. */
function forReaders(answerPage: ErrorRequestHandler): ErrorRequestHandler {
  return (cause, req, res, next) => {
    if (req.method === 'GET' || req.method === 'HEAD') answerPage(cause, req, res, next)
    else next(cause)
  }
}
