/**
 * ISO 4217 as of October 2026, packed as text because every Lambda bundle carries it. A test compares it with npm's
 * `currency-codes` and names each difference.
 */

/**
 * Codes of list one that have a minor unit, by its exponent; includes amendments up to 179 (XAD) and the end of BGN.
 * Codes whose minor unit is "N.A." (XAU, XDR, XXX …) are not money in this sense, so they are in {@link NOT_MONEY}.
 */
export const ACTIVE_BY_EXPONENT: readonly (readonly [exponent: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW ' +
      'CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF ' +
      'IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK ' +
      'MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP ' +
      'SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG ' +
      'YER ZAR ZMW ZWG',
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

/**
 * Codes of list three, withdrawn since 1990: code, exponent, last day of validity.
 *
 * List three gives months only. The day here is the last one on which prices were properly quoted in the code: the day
 * before its successor took over. Old cash was often valid for some weeks or months longer; that time does not count
 * (HRK, BYR, BGN).
 */
export const WITHDRAWN = `
ADP 0 2001-12-31
AFA 2 2002-10-06
ANG 2 2025-03-30
AOK 2 1990-09-24
AON 2 1995-06-30
AOR 2 1999-11-30
ARA 2 1991-12-31
ATS 2 2001-12-31
AZM 2 2005-12-31
BAD 2 1998-06-21
BEF 0 2001-12-31
BGL 2 1999-07-04
BGN 2 2025-12-31
BRE 2 1993-07-31
BRN 2 1990-03-15
BRR 2 1994-06-30
BYB 0 1999-12-31
BYR 0 2016-06-30
CSD 2 2006-10-24
CSK 2 1993-02-07
CUC 2 2020-12-31
CYP 2 2007-12-31
DDM 2 1990-06-30
DEM 2 2001-12-31
ECS 2 2000-09-10
EEK 2 2010-12-31
ESP 0 2001-12-31
FIM 2 2001-12-31
FRF 2 2001-12-31
GEK 2 1995-10-01
GHC 2 2007-06-30
GRD 0 2001-12-31
GWP 2 1997-05-01
HRD 2 1994-05-29
HRK 2 2022-12-31
IEP 2 2001-12-31
ITL 0 2001-12-31
LTL 2 2014-12-31
LTT 2 1993-06-24
LUF 0 2001-12-31
LVL 2 2013-12-31
LVR 2 1993-10-17
MGF 0 2004-12-31
MRO 2 2017-12-31
MTL 2 2007-12-31
MXP 2 1992-12-31
MZM 2 2006-06-30
NIC 2 1991-04-30
NLG 2 2001-12-31
PEI 2 1991-06-30
PLZ 2 1994-12-31
PTE 0 2001-12-31
ROL 0 2005-06-30
RUR 2 1997-12-31
SDD 2 2007-06-30
SIT 2 2006-12-31
SKK 2 2008-12-31
SLL 2 2023-12-31
SRG 2 2003-12-31
STD 2 2017-12-31
TJR 2 2000-10-29
TMM 2 2008-12-31
TPE 0 2002-05-19
TRL 0 2004-12-31
UAK 2 1996-09-01
UYP 2 1993-02-28
VEB 2 2007-12-31
VEF 2 2018-08-19
YUM 2 2003-07-31
ZMK 2 2012-12-31
ZRN 2 1998-06-30
ZRZ 2 1993-10-21
ZWD 2 2008-07-31
ZWL 2 2024-08-31
ZWN 2 2008-07-31
ZWR 2 2009-02-01
`.trim();

/** Codes of list one without a minor unit: an amount in them cannot be a whole number of minor units. */
export const NOT_MONEY: { readonly [code: string]: string } = {
  XAG: 'silver',
  XAU: 'gold',
  XBA: 'a bond market unit',
  XBB: 'a bond market unit',
  XBC: 'a bond market unit',
  XBD: 'a bond market unit',
  XDR: 'the IMF’s special drawing right',
  XPD: 'palladium',
  XPT: 'platinum',
  XSU: 'the sucre of ALBA',
  XTS: 'reserved for tests',
  XUA: 'the unit of account of the ADB',
  XXX: 'not a currency at all',
};

/** Codes of exchanges and data vendors for a price in minor units of a currency. */
export const MINOR_UNIT_ALIASES: { readonly [alias: string]: string } = {
  GBX: 'GBP',
  GBp: 'GBP',
  ILA: 'ILS',
  ILa: 'ILS',
  KWF: 'KWD',
  KWf: 'KWD',
  USX: 'USD',
  USc: 'USD',
  ZAC: 'ZAR',
  ZAc: 'ZAR',
};
