import http from 'k6/http';

export const options = {
  scenarios: {
    rising: {
      executor: 'ramping-arrival-rate',
      startRate: 100,
      timeUnit: '1s',
      preAllocatedVUs: 50,
      maxVUs: 500,
      stages: [
        { target: 100, duration: '10s' },
        { target: 200, duration: '0s' },
        { target: 200, duration: '10s' },
        { target: 300, duration: '0s' },
        { target: 300, duration: '10s' },
      ],
    },
  },
  thresholds: { http_req_duration: [{ threshold: 'p(99)<500', abortOnFail: true, delayAbortEval: '5s' }] },
};

export default () => http.get('http://127.0.0.1:8080/');
