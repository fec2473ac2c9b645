<?php
// The application in PHP, behind nginx and behind Apache, both by FastCGI.

$here = getenv('WORLD_DIR');
$path = explode('?', $_SERVER['REQUEST_URI'])[0];
[$name, $rest] = array_pad(explode('/', ltrim($path, '/'), 2), 2, '');

function reply(string $body, int $code = 200, string $type = 'text/plain'): void
{
    http_response_code($code);
    header("Content-Type: $type");
    header('Content-Length: ' . strlen($body));
    echo $body;
}

function fields(): array
{
    $lines = [];
    foreach ($_SERVER as $key => $value) {
        if (str_starts_with($key, 'HTTP_') || $key === 'CONTENT_TYPE' || $key === 'CONTENT_LENGTH') {
            $lines[] = strtolower(str_replace('_', '-', preg_replace('/^HTTP_/', '', $key))) . ": $value";
        }
    }
    sort($lines);
    return $lines;
}

/** Whether the client made this file, which it does when it has what was sent. */
function wait_for(string $file): bool
{
    for ($count = 0; $count < 1000 && !file_exists($file); $count++) {
        clearstatcache();
        usleep(5000);
    }
    return file_exists($file);
}

function ranged(string $content, string $modified): void
{
    $length = strlen($content);
    header('ETag: "world-1"');
    header('Accept-Ranges: bytes');
    header("Last-Modified: $modified");
    if (($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === '"world-1"') {
        http_response_code(304);
        return;
    }
    $same = ($_SERVER['HTTP_IF_RANGE'] ?? '"world-1"') === '"world-1"';
    if (!$same || !preg_match('/^bytes=(\d*)-(\d*)$/', $_SERVER['HTTP_RANGE'] ?? '', $span)) {
        reply($content, 200, 'application/octet-stream');
        return;
    }
    $start = $span[1] !== '' ? (int) $span[1] : $length - (int) $span[2];
    $end = min($span[1] !== '' && $span[2] !== '' ? (int) $span[2] + 1 : $length, $length);
    if ($start >= $length) {
        header("Content-Range: bytes */$length");
        reply('', 416);
        return;
    }
    header(sprintf('Content-Range: bytes %d-%d/%d', $start, $end - 1, $length));
    reply(substr($content, $start, $end - $start), 206, 'application/octet-stream');
}

switch ($name) {
    case 'bytes':
        reply(str_repeat('x', (int) $rest), 200, 'application/octet-stream');
        break;
    case 'chunks':
        header('Content-Type: application/octet-stream');
        for ($left = (int) $rest; $left > 0; $left -= 50000) {
            echo str_repeat('x', min($left, 50000));
            flush();
        }
        break;
    case 'file':
        $modified = gmdate('D, d M Y H:i:s', filemtime("$here/file.bin")) . ' GMT';
        ranged(file_get_contents("$here/file.bin"), $modified);
        break;
    case 'gzip':
        header('Content-Encoding: gzip');
        header('Vary: Accept-Encoding');
        reply(gzencode(str_repeat('zipped ', 1000)));
        break;
    case 'redirect':
        header('Location: /echo?redirected');
        reply('moved', (int) $rest);
        break;
    case 'cookies':
        header('Set-Cookie: a=1; Path=/', false);
        header('Set-Cookie: b=2; HttpOnly', false);
        header('Set-Cookie: c="d e"; Max-Age=60', false);
        reply('cookies');
        break;
    case 'status':
        if ($rest === '204') {
            http_response_code(204);
            break;
        }
        if ($rest === '401') {
            header('WWW-Authenticate: Basic realm="world"');
        }
        if ($rest === '429' || $rest === '503') {
            header('Retry-After: 7');
        }
        reply("status $rest", (int) $rest);
        break;
    case 'reason':
        header('HTTP/1.1 299 All is well');
        header('Content-Type: text/plain');
        header('Content-Length: 6');
        echo 'reason';
        break;
    case 'fields':
        header("Content-Disposition: attachment; filename=\"\xdcber.csv\"");
        header('X-Long: ' . str_repeat('l', 2000));
        for ($count = 0; $count < 40; $count++) {
            header("X-Many: $count", false);
        }
        reply('fields');
        break;
    case 'slow':
        usleep(300000);
        reply('slow');
        break;
    case 'early':
        reply('too much', 413);
        break;
    case 'events':
        header('Content-Type: text/event-stream');
        header('Cache-Control: no-cache');
        header('X-Accel-Buffering: no');
        for ($number = 0; $number < (int) $_GET['n']; $number++) {
            echo "data: $number\n\n";
            flush();
            if (!wait_for("$here/{$_GET['id']}.$number")) {
                echo "data: not acknowledged\n\n";
                break;
            }
        }
        break;
    default:
        $body = file_get_contents('php://input');
        $lines = ["{$_SERVER['REQUEST_METHOD']} {$_SERVER['REQUEST_URI']}", ...fields()];
        $lines[] = 'body: ' . strlen($body) . ' ' . sha1($body);
        reply(implode("\n", $lines));
}
