import { describe, expect, it } from 'vitest';
import { problem } from '../../contract/problems/problems.ts';
import { preflightResult, problemResult, textResult } from '../../lambdas/http/answer.ts';

const EVERY_ANSWER = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed',
};

describe('answers', () => {
  it('with JSON say so, and are stored by no cache', () => {
    expect(textResult(201, '{"a":1}', { etag: '"1"' })).toEqual({
      statusCode: 201,
      headers: { ...EVERY_ANSWER, 'content-type': 'application/json', etag: '"1"' },
      body: '{"a":1}',
    });
  });

  it('without a body have no media type either', () => {
    expect(textResult(204, '')).toEqual({ statusCode: 204, headers: EVERY_ANSWER });
  });

  it('with a problem have its status and media type', () => {
    const document = problem('rate-limited', 'Wait.', { instance: '/requests/1' });
    expect(problemResult(document, { 'retry-after': '1' })).toEqual({
      statusCode: 429,
      headers: { ...EVERY_ANSWER, 'content-type': 'application/problem+json', 'retry-after': '1' },
      body: JSON.stringify(document),
    });
  });

  it('with a problem can be serialised for any detail', () => {
    const errors = [{ pointer: '/\ud83d', code: 'unknown-field', detail: '\udc00\0' }];
    const { body = '' } = problemResult(problem('validation-failed', '\ud83d', { errors }));
    expect(body.isWellFormed()).toBe(true);
    expect(JSON.parse(body)).toMatchObject({ errors });
  });

  it('to a preflight name the methods, and the fields that a wildcard would not cover', () => {
    expect(preflightResult(['GET', 'PUT'])).toMatchObject({
      statusCode: 204,
      headers: {
        ...EVERY_ANSWER,
        allow: 'GET, PUT',
        'access-control-allow-methods': 'GET, PUT',
        'access-control-allow-headers': expect.stringContaining('Authorization'),
      },
    });
  });

  it('cannot be given another cache policy', () => {
    expect(textResult(200, '{}', { 'cache-control': 'public' }).headers['cache-control']).toBe('no-store');
  });
});
