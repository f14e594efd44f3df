// Examples that the reference shows: accepted bodies, answers of success, error codes, chosen the same each time.
import { expect, test } from 'vitest';
import { endpoint } from '../../src/contract/endpoint.ts';
import Type from 'typebox';
import { chosenExamples } from './chosen-examples.ts';

const access = { anyCredential: 'of a test' } as const;
const one = endpoint({ method: 'GET', path: '/v3/tags/:id', tag: 'Tags', summary: 'A', access });
const own = endpoint({ method: 'GET', path: '/v3/tags/own', tag: 'Tags', summary: 'B', access });
const made = endpoint({
  method: 'POST',
  path: '/v3/tags',
  tag: 'Tags',
  summary: 'C',
  access,
  status: 201,
  body: Type.Object({ name: Type.String(), color: Type.String() }),
});
const refused = { errorCode: '40400_NOT_FOUND', message: 'no' };

const recorded = [
  {
    method: 'GET',
    path: '/v3/tags/1',
    body: undefined,
    status: 200,
    answer: { id: '1', name: null },
  },
  {
    method: 'GET',
    path: '/v3/tags/2?x=1',
    body: undefined,
    status: 200,
    answer: { id: '2', name: 'A', all: [{ n: 1 }, { n: 2 }, { n: 3 }], n: [1, 2, 3] },
  },
  { method: 'GET', path: '/v3/tags/3', body: undefined, status: 404, answer: refused },
  {
    method: 'GET',
    path: '/v3/tags/own',
    body: undefined,
    status: 200,
    answer: { url: 'http://127.0.0.1:4711/' },
  },
  {
    method: 'POST',
    path: '/v3/tags',
    body: { name: '' },
    status: 400,
    answer: { errorCode: '40001_INVALID_REQUEST' },
  },
  {
    method: 'POST',
    path: '/v3/tags',
    // The endpoint ignores what its schema does not name.
    body: { name: 'A', tags: [1, 2, 3] },
    status: 201,
    answer: { id: '3' },
  },
  { method: 'POST', path: '/v3/tags', body: { tags: [] }, status: 201, answer: { id: '3' } },
  {
    method: 'POST',
    path: '/v3/tags',
    body: { name: 'x'.repeat(2_000), color: 'red' },
    status: 201,
    answer: {},
  },
];

test('the richest short answer, the accepted body and the codes are kept; a fixed path is no parameter', () => {
  expect(chosenExamples([one, own, made], recorded)).toEqual({
    createTag: { body: { name: 'A' }, answer: { id: '3' }, errors: ['40001_INVALID_REQUEST'] },
    getTag: {
      answer: { id: '2', name: 'A', all: [{ n: 1 }, { n: 2 }], n: [1, 2, 3] },
      errors: ['40400_NOT_FOUND'],
    },
    getTagsOwn: { answer: { url: 'http://iot.example.org/' } },
  });
  const other = recorded.toReversed();
  expect(chosenExamples([made, own, one], other)).toEqual(
    chosenExamples([one, own, made], recorded),
  );
});
