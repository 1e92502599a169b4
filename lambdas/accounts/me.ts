import type { ReadHandler } from '../pipeline/handler.ts';

export const getMe: ReadHandler<'getMe'> = async ({ principal }) => {
  const { actor, subject, kind, scopes, expiresAt } = principal;
  const markets = principal.markets === null ? null : [...principal.markets];
  return { body: { actor, subject, kind, scopes: [...scopes].sort(), markets, expiresAt } };
};
