import http from 'k6/http';
import { check, sleep } from 'k6';
import { SharedArray } from 'k6/data';

const users = new SharedArray('users', () =>
  open('./users.csv').trim().split('\n').slice(1).map((line) => line.split(',')),
);
const shop = 'http://127.0.0.1:8080';

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: { http_req_duration: ['p(95)<500'], http_req_failed: ['rate<0.01'], checks: ['rate==1'] },
};

export default function () {
  const [user, password] = users[__ITER % users.length];
  const login = http.post(`${shop}/login`, JSON.stringify({ user, password }), {
    headers: { 'Content-Type': 'application/json' },
  });
  check(login, { 'is in': (r) => r.status === 200 });
  const headers = { Authorization: `Bearer ${login.json('token')}` };
  sleep(0.1 + 0.2 * Math.random());

  const list = http.get(`${shop}/items?page=${1 + Math.floor(4 * Math.random())}`, { headers });
  check(list, { 'has prices': (r) => r.status === 200 && r.body.includes('"price"') });
  sleep(-0.2 * Math.log(1 - Math.random()));

  const item = http.get(`${shop}/items/${list.json('items.0.id')}`, { headers });
  check(item, { 'is there': (r) => r.status === 200 });
}
