// The model of `headworks sim` as one writes it in C++ with what the standard library has: two
// events that can be next, virtual time for processor sharing, and the jobs of the threads in a
// std::priority_queue.
//
// Takes the options of `headworks sim` as `--name value` and prints, as JSON, how many events there
// were and what each replication had as its share of rejected requests and mean latency.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Options = std::map<std::string, std::string>;

double number(const Options& options, const std::string& name) {
    const auto found = options.find(name);
    if (found == options.end()) throw std::runtime_error(name + " is missing");
    return std::stod(found->second);
}

struct Model {
    double mean_gap;
    double short_gaps;
    double dynamic;
    double static_time;
    double dynamic_time;
    double service_cv;
    std::size_t threads;
    std::size_t queue;

    explicit Model(const Options& options)
        : dynamic(number(options, "--dynamic")),
          static_time(number(options, "--static-time") / 1e3),
          dynamic_time(static_time * number(options, "--dynamic-cost")),
          service_cv(number(options, "--service-cv")),
          threads(static_cast<std::size_t>(number(options, "--threads"))),
          queue(static_cast<std::size_t>(number(options, "--queue"))) {
        const double squared = std::pow(number(options, "--cv"), 2);
        short_gaps = 0.5 * (1.0 + std::sqrt((squared - 1.0) / (squared + 1.0)));
        const double demand = static_time * (1.0 - dynamic) + dynamic_time * dynamic;
        mean_gap = demand / number(options, "--load");
    }
};

struct Job {
    double arrived;
    double demand;
};

// When a job will be done, in virtual time, and when it came.
using Running = std::pair<double, double>;

struct Result {
    double rejected;
    double latency;
};

class Simulation {
public:
    Simulation(const Model& model, std::uint64_t seed)
        : model_(model),
          random_(seed),
          gamma_(1.0 / (model.service_cv * model.service_cv), model.service_cv * model.service_cv),
          next_arrival_(gap()) {}

    Result run(std::uint64_t warmup, std::uint64_t requests) {
        until(warmup);
        rejected_ = completions_ = 0;
        latency_ = 0.0;
        until(requests);
        return {static_cast<double>(rejected_) / static_cast<double>(requests),
                latency_ / static_cast<double>(completions_)};
    }

    std::uint64_t events() const { return events_; }

private:
    void until(std::uint64_t requests) {
        for (std::uint64_t arrivals = 0; arrivals < requests; ++events_) {
            const double completion = next_completion();
            if (completion <= next_arrival_) {
                complete(completion);
            } else {
                arrive(next_arrival_);
                next_arrival_ += gap();
                ++arrivals;
            }
        }
    }

    double next_completion() const {
        if (running_.empty()) return std::numeric_limits<double>::infinity();
        return now_ + (running_.top().first - attained_) * static_cast<double>(running_.size());
    }

    void arrive(double now) {
        if (!running_.empty()) attained_ += (now - now_) / static_cast<double>(running_.size());
        now_ = now;
        const Job job{now, demand()};
        if (running_.size() < model_.threads) {
            start(job);
        } else if (waiting_.size() < model_.queue) {
            waiting_.push_back(job);
        } else {
            ++rejected_;
        }
    }

    void complete(double now) {
        const auto [done, arrived] = running_.top();
        running_.pop();
        now_ = now;
        attained_ = done;
        latency_ += now - arrived;
        ++completions_;
        if (!waiting_.empty()) {
            start(waiting_.front());
            waiting_.pop_front();
        }
    }

    void start(const Job& job) {
        if (running_.empty()) attained_ = 0.0;
        running_.emplace(attained_ + job.demand, job.arrived);
    }

    double gap() {
        const double chance = uniform_(random_) < model_.short_gaps ? model_.short_gaps : 1.0 - model_.short_gaps;
        return model_.mean_gap * exponential_(random_) / (2.0 * chance);
    }

    double demand() {
        const double mean = uniform_(random_) < model_.dynamic ? model_.dynamic_time : model_.static_time;
        return mean * gamma_(random_);
    }

    const Model& model_;
    std::mt19937_64 random_;
    std::uniform_real_distribution<double> uniform_;
    std::exponential_distribution<double> exponential_;
    std::gamma_distribution<double> gamma_;
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
    std::deque<Job> waiting_;
    // Service that each running job has attained since the server was empty, at now_.
    double attained_ = 0.0;
    double now_ = 0.0;
    double next_arrival_;
    double latency_ = 0.0;
    std::uint64_t rejected_ = 0;
    std::uint64_t completions_ = 0;
    std::uint64_t events_ = 0;
};

void list(const char* name, const std::vector<Result>& results, double Result::*what) {
    std::printf(", \"%s\": [", name);
    const char* separator = "";
    for (const Result& result : results) {
        std::printf("%s%.17g", separator, result.*what);
        separator = ", ";
    }
    std::printf("]");
}

void simulate(const Options& options) {
    const Model model(options);
    const auto count = [&](const char* name) { return static_cast<std::uint64_t>(number(options, name)); };
    const std::uint64_t replications = count("--replications");
    std::vector<Result> results;
    std::uint64_t events = 0;
    for (std::uint64_t replication = 0; replication < replications; ++replication) {
        Simulation simulation(model, count("--seed") * 1'000'003 + replication);
        results.push_back(simulation.run(count("--warmup"), count("--requests")));
        events += simulation.events();
    }
    std::printf("{\"events\": %llu", static_cast<unsigned long long>(events));
    list("rejected", results, &Result::rejected);
    list("latency", results, &Result::latency);
    std::printf("}\n");
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) options[arguments[i]] = arguments[i + 1];
    try {
        simulate(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "plain: %s\n", error.what());
        return 1;
    }
}
