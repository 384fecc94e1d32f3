import { words } from '../../../ops/words.ts'

/**
 * What members of cards, manifests, demands and priced descriptions mean, by the keys that documents in use write: no two of
 * them agree. Keys are compared in lower case and without `_`, `-` and blanks. The next spelling is a word in its row.
 */
export const spellings = {
  version: words('x402version version schemaversion specversion manifestversion'),
  title: words('name title servicename displayname'),
  /** What is sold. */
  things: words(`
    resources items services endpoints apis paidresources paidendpoints paidservices paidroutes routes products listings
    offerings paidapis paidtools x402endpoints x402resources x402services protectedresources protectedroutes
    protectedendpoints monetizedendpoints apiendpoints skus
  `),
  /** Ways to pay for it, alternatives of each other. */
  ways: words(`
    accepts accept paymentrequirements paymentoptions paymentmethods payments payment offers pricing prices x402
    xpaymentinfo tiers plans pricingtiers paymentinfo paymentdetails paymentrequirement paymentrequired acceptedpayments
    acceptedpaymentmethods acceptedassets acceptedtokens x402payment
  `),
  resource: words(`
    resource url path endpoint route uri href resourceurl endpointurl endpointpath resourcepath pathname urltemplate
    apiurl link
  `),
  method: words('method httpmethod verb'),
  description: words('description summary'),
  scheme: words('scheme paymentscheme'),
  network: words(`
    network networks chain chains chainid networkid blockchain caip2 supportednetworks networkname chainname
    supportedchains settlementnetwork paymentnetwork paymentchain caip2network networkcaip2 blockchainnetwork
  `),
  /** Where several are written, an address says more than a symbol. */
  asset: words(`
    assetaddress tokenaddress contractaddress asset token assetsymbol tokensymbol tokencontract assetcontract
    paymenttoken paymentasset usdcaddress usdccontract
  `),
  /** Of an asset that is an object. */
  address: words('address contract contractaddress id'),
  currency: words('currency currencycode symbol pricecurrency denomination currencies'),
  /** What is taken, where nothing else says what a price is in. */
  accepted: words(`
    acceptedtokens acceptedassets acceptedcurrencies supportedtokens supportedassets supportedcurrencies
  `),
  /** What a price is for: a unit, a number of them, a time. A unit may be a currency, too. */
  per: words(`
    quantity unitquantity unitsize unit per interval period billingperiod billinginterval billingcycle billingunit
    priceunit pricingunit perunit costunit frequency
  `),
  /** What a price may be for, or anything else: a word such as `per_token` or `monthly` tells. */
  model: words('pricingmodel pricingtype pricingmode billingmodel billingtype billing model mode type'),
  decimals: words('decimals assetdecimals tokendecimals decimalplaces currencydecimals'),
  payTo: words(`
    payto paytoaddress recipient payee payeeaddress receiver wallet walletaddress paymentaddress paymentwallet
    payoutaddress payaddress receiveraddress receiverwallet receivingaddress receivingwallet recipientaddress
    recipientwallet paytowallet selleraddress sellerwallet merchantaddress merchantwallet beneficiary treasury wallets
  `),
  /** An amount in base units, whatever stands next to it. */
  units: words(`
    maxamountrequired amountatomic atomicamount amountbaseunits amountinbaseunits priceatomic microusdc pricemicrousdc
    amountmicrousdc priceinatomicunits amountinatomicunits baseunits atomicunits rawamount amountraw priceraw
    pricebaseunits
  `),
  /** An amount in base units next to an asset, in whole ones next to a currency. */
  amount: words('amount maxamount'),
  price: words(`
    price cost fee priceperrequest pricepercall costperrequest xprice xx402price x402price priceamount amountperrequest
    amountpercall costpercall feeperrequest feepercall unitprice baseprice defaultprice pricepertask priceperquery
    perrequest percall
  `),
  usd: words(`
    priceusd usd usdprice priceinusd amountusd costusd advisorypriceusd priceperrequestusd pricepercallusd xpriceusd
    usdamount usdcost feeusd costinusd costperrequestusd costpercallusd pricepercallinusd priceperrequestinusd
    amountinusd valueusd priceindollars pricedollars
  `),
  /** Amounts whose key names another currency. */
  usdCents: words('usdcents priceusdcents amountusdcents priceinusdcents'),
  usdc: words(`
    usdc priceusdc usdcprice priceinusdc amountusdc usdcamount costusdc feeusdc priceperrequestusdc pricepercallusdc
  `),
  usdt: words('usdt priceusdt amountusdt'),
  eur: words('eur priceeur amounteur priceineur costeur'),
  eth: words('eth priceeth amounteth priceineth costeth'),
  sol: words('sol pricesol amountsol priceinsol costsol'),
  sats: words('sats pricesats amountsats priceinsats costsats satoshis'),
  cents: words('cents pricecents amountcents priceincents costcents'),
  credits: words('credits pricecredits costcredits priceincredits creditcost'),
  /** Of a price that is an object. */
  value: words('value'),
  least: words('minprice min minamount'),
  most: words('maxprice max'),
  leastUsd: words('minpriceusd minusd'),
  mostUsd: words('maxpriceusd maxusd'),
  /** Extensions of OpenAPI that hold all this. */
  extension: words(`
    xpaymentinfo xx402 xx402info x402 x402info xpricing xpayment xpayments xmonetization xpaymentrequired xx402payment
    xagentpayment xcost
  `),
  /** Of a card: one more level around it, and marks of cards without a list of skills. */
  cardWrapper: words('agentcard card agent data result'),
  cardMarks: words('preferredtransport supportedinterfaces defaultinputmodes'),
  /** Of what is sold, for buyers who look for something: extensions of x402. */
  service: words('servicename'),
  icon: words('iconurl icon logourl logo'),
  extensions: words('extensions'),
  bazaar: words('bazaar'),
  info: words('info discoveryinfo'),
  input: words('input'),
  output: words('output'),
  schema: words('schema'),
  route: words('routetemplate'),
  /** Of version 1, which has both in it. */
  outputSchema: words('outputschema'),
  /** Of cards: what is shown of several names. */
  shown: words('title displayname name servername id'),
  name: words('name id title displayname protocol toolname skillname tool function'),
  id: words('id identifier slug skillid toolid'),
  tags: words('tags keywords categories'),
  capabilities: words('capabilities'),
  tools: words('tools mcptools functions toolset toolsets toollist'),
  skills: words('skills a2askills skilllist agentskills'),
  /** Members of a map of tools or skills that say something about all of it. */
  aboutList: words('listchanged description type count total url endpoint href docs note version'),
  /** Of an MCP server, what it says of itself, and servers next to each other. */
  serverInfo: words('serverinfo implementation'),
  servers: words('servers mcpservers server mcpserver'),
  /** Places where an agent, a server or an API takes requests. */
  interfaces: words(`
    supportedinterfaces additionalinterfaces interfaces remotes transports transport endpoints connections
  `),
  place: words(`
    url endpoint endpointurl baseurl serviceurl serviceendpoint uri href serverurl mcpurl mcpendpoint mcpserverurl
    rpcurl jsonrpcurl a2aurl a2aendpoint agenturl location cardurl
  `),
  binding: words('protocolbinding binding transport preferredtransport type transporttype protocol'),
  protocolVersion: words(`
    protocolversion supportedprotocolversions a2aversion mcpversion a2aprotocolversion mcpprotocolversion
  `),
  security: words('securityschemes securitydefinitions authentication auth authschemes'),
  /** Of a catalog. */
  entries: words('entries items catalog agents artifacts'),
  mediaType: words('mediatype type contenttype format artifacttype'),
  data: words('data card inline content'),
  /** Lists of names of schemes within that. */
  schemes: words('schemes methods types'),
  /** Of a scheme. */
  schemeType: words('type scheme method'),
  /** Offers of MPP, and what x402 has no member of its own for. */
  mpp: words('offers'),
  intent: words('intent'),
  extra: words('extra'),
  /** One more level around a manifest. */
  wrapper: words('manifest x402manifest discovery data result service server'),
} satisfies Record<string, readonly string[]>
