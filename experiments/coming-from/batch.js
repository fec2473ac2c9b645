import http from 'k6/http';
import { sleep } from 'k6';

const shop = 'http://127.0.0.1:8080';

export const options = { vus: 5, duration: '10s' };

export default function () {
  http.get(`${shop}/`);
  http.batch([`${shop}/style.css`, `${shop}/logo.svg`]);
  sleep(1);
  http.get(`${shop}/`);
}
